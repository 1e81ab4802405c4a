// Letters for toy vocabularies.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "punt/tokenizer.h"
#include "punt/types.h"

namespace punt {

/// Token 0..25 prints as a..z, 26..51 as A..Z, any other t as <t>; the mask token prints as '_', whatever its
/// number. Encode accepts exactly these forms, without spaces, and the mask only as a special token; Decode and Piece
/// throw Error on tokens outside the vocabulary.
class LettersTokenizer : public Tokenizer {
 public:
  /// vocab_size counts the mask token.
  LettersTokenizer(int vocab_size, Token mask_token);

  using Tokenizer::Encode;
  std::vector<Token> Encode(std::string_view text, const EncodeOptions& options) const override;
  std::string Decode(std::span<const Token> tokens) const override;
  std::string Piece(Token token) const override;

 private:
  /// Removes one token from the front of `text`, which is not empty.
  Token Next(std::string_view& text) const;

  int vocab_size_;
  Token mask_token_;
};

}  // namespace punt
