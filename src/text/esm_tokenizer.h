// One token per amino acid.
#pragma once

#include <string>
#include <vector>

#include "punt/tokenizer.h"
#include "text/special_tokens.h"
#include "text/vocabulary_keys.h"

namespace punt {

/// The tokenizer of ESM's protein models, as Hugging Face's EsmTokenizer does it: every token of the vocabulary is
/// found wherever it stands in the text, white space is dropped, and each stretch of anything else is one <unk>.
/// Decode writes the tokens one behind the other. Const; share freely.
class EsmTokenizer : public Tokenizer {
 public:
  /// Throws Error when a special token is missing.
  explicit EsmTokenizer(VocabularyKeys keys);

  std::vector<Token> Encode(std::string_view text) const override;
  std::string Decode(std::span<const Token> tokens) const override;
  std::string Piece(Token token) const override;
  bool IsControl(Token token) const override { return keys_.IsControl(token); }
  std::vector<Token> Prefix() const override { return {cls_}; }
  std::vector<Token> Suffix() const override { return {eos_}; }

 private:
  VocabularyKeys keys_;
  Token cls_;
  Token eos_;
  Token unknown_;
  SpecialTokens every_token_;
};

}  // namespace punt
