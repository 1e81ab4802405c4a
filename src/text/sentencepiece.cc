// SentencePiece (Kudo and Richardson, 2018) with byte pair encoding, as in the vocabularies of Llama 2 and of the
// bundled stories. A space is written U+2581 and a text is not split into words first: it begins as characters, and of
// all neighbours that together are a piece those with the highest score are merged, the leftmost first, until there are
// none. What is not a piece in the end is written as bytes.
//
// This is done here and not by libllama, which reallocates for each character's bytes: for a text of characters that
// the vocabulary does not have, it needs time that grows with the square of their number (a megabyte: minutes). And
// libllama takes the names of special tokens and bytes ("</s>", "<0x41>") for pieces when merges happen to make them.
//
// Cost: n characters are n - 1 neighbours, and each of fewer than n merges makes two more: O(n log n) by a heap,
// with lookups of pieces no longer than the longest.
//
// No merge ever spans a place where the result has a boundary between two tokens. So the merges on either side are the
// same ones, in the same order, as without the other side: a text that is cut between two tokens keeps its tokens. So
// text after a hole only has to begin without an added space.
//
// Tested by sentencepiece_test.cc against libllama.
#include "text/sentencepiece.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>

#include "base/check.h"
#include "text/utf8.h"

namespace punt {
namespace {

constexpr std::string_view kSpace = "\xe2\x96\x81";

std::string WithMarks(std::string_view text) {
  std::string marked;
  marked.reserve(text.size());
  for (char c : text) {
    if (c == ' ') marked += kSpace;
    if (c != ' ') marked += c;
  }
  return marked;
}

}  // namespace

/// A stretch of the text, in a chain of those that remain. Size 0: merged into the one before.
struct SentencePiece::Symbol {
  std::size_t begin = 0;
  std::size_t size = 0;
  std::int64_t before = -1;
  std::int64_t next = -1;
};

/// One text on its way to tokens.
class SentencePiece::Merging {
 public:
  Merging(const SentencePiece& owner, std::string_view text) : owner_(owner), text_(text) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t bytes = CharacterBytes(text.substr(at));
      Check(bytes > 0, "a text that is not UTF-8");
      const auto index = static_cast<std::int64_t>(symbols_.size());
      symbols_.push_back({.begin = at, .size = bytes, .before = index - 1, .next = index + 1});
      at += bytes;
    }
    if (!symbols_.empty()) symbols_.back().next = -1;
  }

  void Run() {
    for (std::size_t i = 1; i < symbols_.size(); ++i) Offer(static_cast<std::int64_t>(i) - 1);
    while (!best_.empty()) {
      const Pair pair = best_.top();
      best_.pop();
      Symbol& left = At(pair.left);
      // Something else took one of them: then they are not that long any more, or another size.
      const bool is_stale = left.size == 0 || left.next < 0 || left.size + At(left.next).size != pair.size;
      if (is_stale) continue;
      Symbol& right = At(left.next);
      left.size += right.size;
      right.size = 0;
      left.next = right.next;
      if (left.next >= 0) At(left.next).before = pair.left;
      Offer(left.before);
      Offer(pair.left);
    }
  }

  const std::vector<Symbol>& symbols() const { return symbols_; }

 private:
  struct Pair {
    float score;
    std::int64_t left;
    std::size_t size;
    bool operator<(const Pair& other) const {
      return score < other.score || (score == other.score && left > other.left);
    }
  };

  Symbol& At(std::int64_t index) { return symbols_[static_cast<std::size_t>(index)]; }

  /// The symbol with the one after it, if they are a piece.
  void Offer(std::int64_t index) {
    if (index < 0 || At(index).next < 0) return;
    const std::size_t size = At(index).size + At(At(index).next).size;
    const Token token = owner_.Find(text_.substr(At(index).begin, size));
    if (token < 0) return;
    best_.push({.score = owner_.scores_[static_cast<std::size_t>(token)], .left = index, .size = size});
  }

  const SentencePiece& owner_;
  std::string_view text_;
  std::vector<Symbol> symbols_;
  std::priority_queue<Pair> best_;
};

SentencePiece::SentencePiece(const VocabularyKeys& keys, std::vector<float> scores)
    : scores_(std::move(scores)), bytes_(256, -1) {
  Check(scores_.size() == keys.size(), "a score for each token");
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys.kinds[i] == TokenKind::kByte || keys.IsSpecial(static_cast<Token>(i))) continue;
    pieces_.emplace(keys.tokens[i], static_cast<Token>(i));
    longest_ = std::max(longest_, keys.tokens[i].size());
  }
  for (std::size_t byte = 0; byte < bytes_.size(); ++byte) {
    auto token = keys.Find(fmt::format("<0x{:02X}>", byte));
    if (!token && byte < 0x80) token = keys.Find(std::string(1, static_cast<char>(byte)));
    if (token) bytes_[byte] = *token;
  }
}

Token SentencePiece::Find(std::string_view piece) const {
  if (piece.size() > longest_) return -1;
  const auto found = pieces_.find(piece);
  return found == pieces_.end() ? -1 : found->second;
}

bool SentencePiece::Encode(std::string_view text, std::vector<Token>& tokens) const {
  const std::string marked = WithMarks(text);
  Merging merging(*this, marked);
  merging.Run();
  for (const Symbol& symbol : merging.symbols()) {
    if (symbol.size == 0) continue;
    const std::string_view piece = std::string_view(marked).substr(symbol.begin, symbol.size);
    const Token whole = Find(piece);
    if (whole >= 0) {
      tokens.push_back(whole);
      continue;
    }
    for (char byte : piece) {
      const Token token = bytes_[static_cast<unsigned char>(byte)];
      if (token < 0) return false;
      tokens.push_back(token);
    }
  }
  return true;
}

}  // namespace punt
