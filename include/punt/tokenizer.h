// Between text and tokens.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "punt/types.h"

namespace punt {

/// Const and stateless; share freely.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  /// Throws Error naming the offending part when the text cannot be expressed.
  virtual std::vector<Token> Encode(std::string_view text) const = 0;
  virtual std::string Decode(std::span<const Token> tokens) const = 0;
  /// The text of one token, for display.
  virtual std::string Piece(Token token) const = 0;
};

}  // namespace punt
