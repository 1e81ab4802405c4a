#include "text/letters.h"

#include <charconv>

#include "base/check.h"
#include "text/utf8.h"

namespace punt {
namespace {

constexpr Token kLetters = 26;

[[noreturn]] void RefuseCharacter(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t bytes = CharacterBytes(text);
  if (bytes == 0) BadInput("byte 0x{:02x} is not valid UTF-8", first);
  if (first < 0x20 || first == 0x7f) BadInput("the character U+{:04X} is not a token", first);
  BadInput("the character '{}' is not a token; tokens are a-z, A-Z, <number> and _ for the mask",
           text.substr(0, bytes));
}

}  // namespace

LettersTokenizer::LettersTokenizer(int vocab_size, Token mask_token)
    : vocab_size_(vocab_size), mask_token_(mask_token) {
  Check(vocab_size > 0 && mask_token >= 0 && mask_token < vocab_size, "a tokenizer whose mask is not a token");
}

std::string LettersTokenizer::Piece(Token token) const {
  if (token < 0 || token >= vocab_size_) BadInput("token {} lies outside the vocabulary of {}", token, vocab_size_);
  if (token == mask_token_) return "_";
  if (token < kLetters) return std::string(1, static_cast<char>('a' + token));
  if (token < 2 * kLetters) return std::string(1, static_cast<char>('A' + token - kLetters));
  return fmt::format("<{}>", token);
}

std::string LettersTokenizer::Decode(std::span<const Token> tokens) const {
  std::string text;
  for (Token token : tokens) text += Piece(token);
  return text;
}

std::vector<Token> LettersTokenizer::Encode(std::string_view text, const EncodeOptions& options) const {
  std::vector<Token> tokens;
  // A space before a hole belongs to the hole; there are no other spaces.
  if (options.before_hole && text.ends_with(' ')) text.remove_suffix(1);
  if (options.behind_hole && text.starts_with(' ')) text.remove_prefix(1);
  while (!text.empty()) {
    tokens.push_back(Next(text));
    if (tokens.back() == mask_token_ && !options.specials) BadInput("the text holds a mask, '_'");
  }
  return tokens;
}

Token LettersTokenizer::Next(std::string_view& text) const {
  const char first = text.front();
  std::size_t length = 1;
  Token token = -1;
  if (first == '_') {
    token = mask_token_;
  } else if (first >= 'a' && first <= 'z') {
    token = first - 'a';
  } else if (first >= 'A' && first <= 'Z') {
    token = first - 'A' + kLetters;
  } else if (first == '<') {
    const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), token);
    length = static_cast<std::size_t>(end - text.data()) + 1;
    if (error != std::errc() || end == text.data() + text.size() || *end != '>') {
      BadInput("'<' must begin a token such as <{}>", 2 * kLetters);
    }
  } else {
    RefuseCharacter(text);
  }
  const std::string_view piece = text.substr(0, length);
  // The mask is written '_' only, not as its number.
  if (token < 0 || token >= vocab_size_ || (token == mask_token_ && first != '_')) {
    BadInput("'{}' lies outside the vocabulary of {} tokens", piece, vocab_size_ - 1);
  }
  if (Piece(token) != piece) BadInput("'{}' is written '{}'", piece, Piece(token));
  text.remove_prefix(length);
  return token;
}

}  // namespace punt
