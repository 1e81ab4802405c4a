#include "text/esm_tokenizer.h"

#include <algorithm>

#include "base/check.h"
#include "text/utf8.h"

namespace punt {
namespace {

SpecialTokens Tokens(const VocabularyKeys& keys, bool specials) {
  std::vector<SpecialTokens::Entry> entries;
  for (Token token = 0; token < static_cast<Token>(keys.size()); ++token) {
    const auto index = static_cast<std::size_t>(token);
    const bool is_wanted = specials || !keys.IsSpecial(token);
    if (is_wanted && keys.kinds[index] != TokenKind::kUnused) entries.push_back({keys.tokens[index], token});
  }
  return SpecialTokens(std::move(entries));
}

constexpr std::string_view kSpaces = " \t\n\v\f\r";

/// The first character, on one line.
std::string Shown(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x20 || first == 0x7f) return fmt::format("U+{:04X}", first);
  return std::string(text.substr(0, CharacterBytes(text)));
}

}  // namespace

EsmTokenizer::EsmTokenizer(VocabularyKeys keys)
    : keys_(std::move(keys)),
      cls_(keys_.Require(keys_.cls, "cls_token_id")),
      eos_(keys_.Require(keys_.eos, "eos_token_id")),
      every_token_(Tokens(keys_, true)),
      letters_(Tokens(keys_, false)) {}

std::vector<Token> EsmTokenizer::Encode(std::string_view text, const EncodeOptions& options) const {
  RequireUtf8(text);
  std::vector<Token> tokens;
  const auto others = [&](std::string_view rest) {
    for (; !rest.empty(); rest.remove_prefix(CharacterBytes(rest))) {
      const char letter = rest.front();
      if (kSpaces.find(letter) != std::string_view::npos) continue;
      const bool is_lower = letter >= 'a' && letter <= 'z';
      const auto token = keys_.Find(std::string(1, is_lower ? static_cast<char>(letter - 'a' + 'A') : letter));
      if (!is_lower || !token || keys_.IsSpecial(*token))
        Refuse(text, static_cast<std::size_t>(rest.data() - text.data()));
      tokens.push_back(*token);
    }
  };
  const SpecialTokens& known = options.specials ? every_token_ : letters_;
  known.Split(text, others, [&](Token token) { tokens.push_back(token); });
  return tokens;
}

void EsmTokenizer::Refuse(std::string_view text, std::size_t at) const {
  std::string known;
  for (Token token = 0; token < static_cast<Token>(keys_.size()); ++token) {
    const std::string& letter = keys_.tokens[static_cast<std::size_t>(token)];
    if (letter.size() == 1 && !keys_.IsSpecial(token)) known += letter;
  }
  std::sort(known.begin(), known.end());
  const std::size_t place = CodePoints(text.substr(0, at)).size() + 1;
  BadInput("'{}' at position {} is not one of the letters that the model knows: {}", Shown(text.substr(at)), place,
           known);
}

std::string EsmTokenizer::Piece(Token token) const {
  keys_.RequireToken(token);
  return keys_.tokens[static_cast<std::size_t>(token)];
}

std::string EsmTokenizer::Decode(std::span<const Token> tokens) const {
  std::string text;
  for (Token token : tokens) text += Piece(token);
  return text;
}

}  // namespace punt
