// WordPiece (Schuster and Nakajima, 2012; as BERT uses it, Devlin et al., 2018). Control characters are removed from
// the text, CJK characters are set apart, letters lose accents and case if the model is uncased; white space and
// punctuation split it into words; and each word is cut greedily into the longest pieces that the vocabulary has, the
// first one as the beginning of a word, the others as its inside. If one piece is missing, or if the word has more than
// 100 characters, the whole word becomes [UNK].
//
// This is done here and not by libllama so that the limit of characters, the categories and the order of the steps are
// those of Hugging Face by construction. Whether libllama's version agrees was not measured.
//
// In GGUF, by llama.cpp's convention, tokens do not carry BERT's marks: the beginning of a word is marked with U+2581,
// the inside (##ing) not at all, and names in brackets ([CLS], [unused7]) are left alone.
//
// Cost: a word of n characters needs at most n * longest piece lookups.
//
// Tested by vocabulary_test.cc, hf_tokenizer_test.cc and on bert-base-uncased by tests/tokenizer_vectors_test.cc.
#include "text/wordpiece_tokenizer.h"

#include <utf8proc.h>

#include <algorithm>

#include "base/check.h"
#include "text/utf8.h"

namespace punt {
namespace {

constexpr std::string_view kWordMark = "\xe2\x96\x81";

utf8proc_category_t Category(char32_t code) { return utf8proc_category(static_cast<utf8proc_int32_t>(code)); }

/// What cleaning removes.
bool IsControlCode(char32_t code) {
  if (code == '\t' || code == '\n' || code == '\r') return false;
  if (code == 0 || code == 0xfffd) return true;
  const auto category = Category(code);
  return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF || category == UTF8PROC_CATEGORY_CO;
}

bool IsPunctuation(char32_t code) {
  const bool is_ascii = (code >= 33 && code <= 47) || (code >= 58 && code <= 64) || (code >= 91 && code <= 96) ||
                        (code >= 123 && code <= 126);
  const auto category = Category(code);
  return is_ascii || (category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO);
}

bool IsCjk(char32_t code) {
  constexpr std::pair<char32_t, char32_t> kRanges[] = {{0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xf900, 0xfaff},
                                                       {0x20000, 0x2a6df}, {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f},
                                                       {0x2b920, 0x2ceaf}, {0x2f800, 0x2fa1f}};
  return std::any_of(std::begin(kRanges), std::end(kRanges),
                     [&](const auto& range) { return code >= range.first && code <= range.second; });
}

std::string Utf8(std::u32string_view codes) {
  std::string text;
  for (char32_t code : codes) AppendUtf8(code, text);
  return text;
}

}  // namespace

WordPieceTokenizer::WordPieceTokenizer(VocabularyKeys keys, WordPieceOptions options)
    : keys_(std::move(keys)),
      options_(options),
      cls_(keys_.Require(keys_.cls, "cls_token_id")),
      separator_(keys_.Require(keys_.separator, "seperator_token_id")),
      unknown_(keys_.Require(keys_.unknown, "unknown_token_id")),
      specials_(keys_.Specials()),
      added_words_(keys_.AddedWords()),
      roles_(keys_.size(), Role::kWhole),
      texts_(keys_.size()) {
  for (Token token = 0; token < static_cast<Token>(keys_.size()); ++token) AddToken(token);
}

void WordPieceTokenizer::AddToken(Token token) {
  const auto index = static_cast<std::size_t>(token);
  const std::string& text = keys_.tokens[index];
  texts_[index] = text;
  const bool is_name = text.starts_with('[') && text.ends_with(']');
  if (keys_.kinds[index] != TokenKind::kNormal || is_name) return;
  const bool begins_word = text.starts_with(kWordMark) && text.size() > kWordMark.size();
  if (begins_word) texts_[index].erase(0, kWordMark.size());
  roles_[index] = begins_word ? Role::kWord : Role::kInside;
  const std::u32string codes = CodePoints(texts_[index]);
  longest_ = std::max(longest_, codes.size());
  (begins_word ? words_ : insides_).emplace(codes, token);
}

std::u32string WordPieceTokenizer::Normalized(std::string_view text) const {
  std::u32string clean;
  for (char32_t code : CodePoints(text)) {
    if (IsControlCode(code)) continue;
    const bool is_cjk = IsCjk(code);
    if (is_cjk) clean += U' ';
    clean += IsWhiteSpace(code) ? U' ' : code;
    if (is_cjk) clean += U' ';
  }
  if (options_.strip_accents) {
    clean = Nfd(Utf8(clean));
    std::erase_if(clean, [](char32_t code) { return Category(code) == UTF8PROC_CATEGORY_MN; });
  }
  if (!options_.lowercase) return clean;
  std::u32string lower;
  for (char32_t code : clean) {
    // The only character whose lower case is two characters.
    if (code == 0x130) lower += U"i\u0307";
    if (code != 0x130) lower += static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code)));
  }
  return lower;
}

bool WordPieceTokenizer::CutWord(std::u32string_view word, bool goes_on, std::vector<Token>& tokens) const {
  if (word.size() > options_.max_word_characters) return false;
  const std::size_t before = tokens.size();
  for (std::size_t at = 0; at < word.size();) {
    const auto& pieces = at == 0 && !goes_on ? words_ : insides_;
    std::size_t length = std::min(longest_, word.size() - at);
    auto found = pieces.end();
    for (; length > 0 && found == pieces.end(); --length) found = pieces.find(std::u32string(word.substr(at, length)));
    if (found == pieces.end()) {
      tokens.resize(before);
      return false;
    }
    tokens.push_back(found->second);
    at += found->first.size();
  }
  return true;
}

void WordPieceTokenizer::EncodeWord(std::u32string_view word, std::vector<Token>& tokens) const {
  if (!CutWord(word, false, tokens)) tokens.push_back(unknown_);
}

void WordPieceTokenizer::EncodePlain(std::string_view text, bool goes_on, std::vector<Token>& tokens) const {
  const std::u32string codes = Normalized(text);
  const std::u32string_view all = codes;
  std::size_t begin = 0;
  const auto end_word = [&](std::size_t end) {
    if (end == begin) return;
    const std::u32string_view word = all.substr(begin, end - begin);
    if (goes_on && begin == 0 && CutWord(word, true, tokens)) return;
    EncodeWord(word, tokens);
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_punctuation = IsPunctuation(all[i]);
    if (!is_punctuation && !IsWhiteSpace(all[i])) continue;
    end_word(i);
    begin = i + 1;
    if (is_punctuation) EncodeWord(all.substr(i, 1), tokens);
  }
  end_word(all.size());
}

std::vector<Token> WordPieceTokenizer::Encode(std::string_view text, const EncodeOptions& options) const {
  RequireUtf8(text);
  std::vector<Token> tokens;
  const auto encode = [&](std::string_view plain) {
    EncodePlain(plain, options.behind_hole && plain.data() == text.data(), tokens);
  };
  const SpecialTokens& apart = options.specials ? specials_ : added_words_;
  apart.Split(text, encode, [&](Token token) { tokens.push_back(token); });
  return tokens;
}

std::string WordPieceTokenizer::Piece(Token token) const {
  keys_.RequireToken(token);
  const auto index = static_cast<std::size_t>(token);
  return roles_[index] == Role::kInside ? "##" + texts_[index] : texts_[index];
}

int WordPieceTokenizer::ContextAfter(Token token) const {
  const auto index = static_cast<std::size_t>(token);
  return texts_[index] == "'" && roles_[index] == Role::kWord ? 2 : 1;
}

std::string WordPieceTokenizer::TextIn(int context, Token token) const {
  keys_.RequireToken(token);
  const auto index = static_cast<std::size_t>(token);
  const std::string& piece = texts_[index];
  const bool is_inside = roles_[index] == Role::kInside;
  const bool hugs_left = piece == "." || piece == "," || piece == "!" || piece == "?" || piece == "'";
  // An inside with nothing before it would read as a word of its own.
  if (context == 0) return is_inside ? "##" + piece : piece;
  return is_inside || hugs_left || context == 2 ? piece : " " + piece;
}

std::string WordPieceTokenizer::Decode(std::span<const Token> tokens) const {
  std::string text;
  int context = 0;
  for (Token token : tokens) {
    text += TextIn(context, token);
    context = ContextAfter(token);
  }
  return text;
}

}  // namespace punt
