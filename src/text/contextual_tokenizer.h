// Tokenizers whose tokens read differently after different tokens, for those who follow a text token by token.
#pragma once

#include <string>

#include "punt/tokenizer.h"

namespace punt {

/// The text of a token depends on the context that the token before it leaves; Decode puts these texts together. For
/// all other tokenizers it is Piece, and Decode joins the pieces.
class ContextualTokenizer : public Tokenizer {
 public:
  using Tokenizer::Encode;
  /// The number of contexts; 0 is the beginning of a text.
  virtual int contexts() const = 0;
  virtual int ContextAfter(Token token) const = 0;
  /// The bytes that a token adds to a text in that context.
  virtual std::string TextIn(int context, Token token) const = 0;
};

}  // namespace punt
