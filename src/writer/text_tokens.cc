#include "writer/text_tokens.h"

#include <algorithm>

namespace punt {

std::size_t CharactersIn(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::vector<TextToken> TextTokens::UpTo(std::span<const Token> canvas, std::size_t count,
                                        const std::map<Position, CommitRow>& rows) {
  std::vector<TextToken> tokens;
  while (count_ < count) Take(canvas, text_.Text(canvas, count_ + 1), rows, tokens);
  return tokens;
}

std::vector<TextToken> TextTokens::Within(std::span<const Token> canvas, std::size_t bytes,
                                          const std::map<Position, CommitRow>& rows) {
  std::vector<TextToken> tokens;
  const TextPlace& place = text_.place();
  while (place.begin + count_ < place.end && before_.size() < bytes) {
    std::string text = text_.Text(canvas, count_ + 1);
    if (text.size() > bytes) break;
    Take(canvas, text, rows, tokens);
  }
  return tokens;
}

void TextTokens::Take(std::span<const Token> canvas, const std::string& text, const std::map<Position, CommitRow>& rows,
                      std::vector<TextToken>& tokens) {
  const std::size_t position = text_.place().begin + count_++;
  const auto row = rows.find(static_cast<Position>(position));
  TextToken token{.text = text.substr(std::min(before_.size(), text.size())),
                  .offset = CharactersIn(before_),
                  .token = canvas[position]};
  if (row != rows.end()) token.row = row->second;
  tokens.push_back(std::move(token));
  before_ = text;
}

}  // namespace punt
