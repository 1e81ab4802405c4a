// Byte-level BPE and SentencePiece by libllama.
#pragma once

#include <llama.h>

#include <memory>
#include <string>
#include <vector>

#include "punt/tokenizer.h"
#include "text/special_tokens.h"
#include "text/vocabulary_keys.h"

namespace punt {

/// Encode of a byte-level vocabulary is exact: Decode gives the (normalised) text back, or Encode throws Error.
/// libllama's vocabulary is const after loading; share freely.
class LlamaTokenizer : public Tokenizer {
 public:
  /// Throws Error with libllama's own words when it does not accept the vocabulary.
  LlamaTokenizer(const Metadata& metadata, VocabularyKeys keys);

  std::vector<Token> Encode(std::string_view text) const override;
  std::string Decode(std::span<const Token> tokens) const override;
  std::string Piece(Token token) const override;
  bool IsControl(Token token) const override { return keys_.IsControl(token); }
  std::vector<Token> Prefix() const override;
  std::vector<Token> Suffix() const override;
  std::vector<Token> EncodeChat(std::span<const ChatMessage> messages) const override;

  /// End of sequence first, then end of turn, then whatever else libllama ends an answer at.
  std::vector<Token> EndTokens() const;

 private:
  struct ModelDelete {
    void operator()(llama_model* model) const { llama_model_free(model); }
  };

  /// A text without special tokens.
  void EncodePlain(std::string_view text, std::vector<Token>& tokens) const;

  VocabularyKeys keys_;
  SpecialTokens specials_;
  std::unique_ptr<llama_model, ModelDelete> model_;
  const llama_vocab* vocab_;
};

}  // namespace punt
