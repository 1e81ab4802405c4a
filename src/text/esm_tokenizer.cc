#include "text/esm_tokenizer.h"

#include "base/check.h"
#include "text/utf8.h"

namespace punt {
namespace {

SpecialTokens EveryToken(const VocabularyKeys& keys) {
  std::vector<SpecialTokens::Entry> entries;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys.kinds[i] != TokenKind::kUnused) entries.push_back({keys.tokens[i], static_cast<Token>(i)});
  }
  return SpecialTokens(std::move(entries));
}

}  // namespace

EsmTokenizer::EsmTokenizer(VocabularyKeys keys)
    : keys_(std::move(keys)),
      cls_(keys_.Require(keys_.cls, "cls_token_id")),
      eos_(keys_.Require(keys_.eos, "eos_token_id")),
      unknown_(keys_.Require(keys_.unknown, "unknown_token_id")),
      every_token_(EveryToken(keys_)) {}

std::vector<Token> EsmTokenizer::Encode(std::string_view text) const {
  RequireUtf8(text);
  constexpr std::string_view kSpaces = " \t\n\v\f\r";
  std::vector<Token> tokens;
  const auto unknown_words = [&](std::string_view rest) {
    for (std::size_t at = rest.find_first_not_of(kSpaces); at != std::string_view::npos;) {
      tokens.push_back(unknown_);
      const std::size_t end = rest.find_first_of(kSpaces, at);
      at = rest.find_first_not_of(kSpaces, end);
    }
  };
  every_token_.Split(text, unknown_words, [&](Token token) { tokens.push_back(token); });
  return tokens;
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
