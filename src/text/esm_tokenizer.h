// One token per amino acid, or atom.
#pragma once

#include <string>
#include <vector>

#include "punt/tokenizer.h"
#include "text/special_tokens.h"
#include "text/vocabulary_keys.h"

namespace punt {

/// The tokenizer of ESM's protein models. A sequence is letters: one token each, lower case read as upper case if
/// the vocabulary has no lower case, white space dropped (sequences are pasted in lines); any other character is
/// refused by name and place. Special tokens are found anywhere, if asked for. In all else this follows Hugging Face's
/// EsmTokenizer, which turns a whole stretch of unknown letters into one <unk>: a sequence of another length, without a
/// warning. Decode joins the tokens. Const; share freely.
class EsmTokenizer : public Tokenizer {
 public:
  /// Throws Error when a special token is missing.
  explicit EsmTokenizer(VocabularyKeys keys);

  using Tokenizer::Encode;
  std::vector<Token> Encode(std::string_view text, const EncodeOptions& options) const override;
  std::string Decode(std::span<const Token> tokens) const override;
  std::string Piece(Token token) const override;
  bool IsControl(Token token) const override { return keys_.IsControl(token); }
  std::vector<Token> Prefix() const override { return {cls_}; }
  std::vector<Token> Suffix() const override { return {eos_}; }

 private:
  [[noreturn]] void Refuse(std::string_view text, std::size_t at) const;

  VocabularyKeys keys_;
  Token cls_;
  Token eos_;
  SpecialTokens every_token_;
  SpecialTokens letters_;  // every token that is not special
};

}  // namespace punt
