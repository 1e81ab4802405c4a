// A text token by token, with what the model said of each.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "punt/writer.h"
#include "writer/growing_text.h"

namespace punt {

/// Code points.
std::size_t CharactersIn(std::string_view text);

/// Follows the text of a canvas from left to right. Time grows with the square of the text: it is decoded anew for
/// every token, because how a token reads may depend on those before it.
class TextTokens {
 public:
  /// `text` outlives it.
  explicit TextTokens(const GrowingText& text) : text_(text) {}

  /// The next tokens of the stretch, up to `count` of all; none of them masked.
  std::vector<TextToken> UpTo(std::span<const Token> canvas, std::size_t count,
                              const std::map<Position, CommitRow>& rows);

  /// The next tokens whose whole text lies in the first `bytes` of the text; they stop before a mask.
  std::vector<TextToken> Within(std::span<const Token> canvas, std::size_t bytes,
                                const std::map<Position, CommitRow>& rows);

 private:
  void Take(std::span<const Token> canvas, const std::string& text, const std::map<Position, CommitRow>& rows,
            std::vector<TextToken>& tokens);

  const GrowingText& text_;
  std::size_t count_ = 0;  // taken so far
  std::string before_;     // the text of those
};

}  // namespace punt
