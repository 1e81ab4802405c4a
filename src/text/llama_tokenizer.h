// Byte-level BPE by libllama, and SentencePiece.
#pragma once

#include <llama.h>

#include <memory>
#include <string>
#include <vector>

#include "punt/tokenizer.h"
#include "text/contextual_tokenizer.h"
#include "text/sentencepiece.h"
#include "text/special_tokens.h"
#include "text/vocabulary_keys.h"

namespace punt {

/// Encode of a byte-level vocabulary is exact: Decode gives the (normalised) text back, or Encode throws Error.
/// libllama's vocabulary is const after loading; share freely.
class LlamaTokenizer : public ContextualTokenizer {
 public:
  /// Throws Error with libllama's own words when it does not accept the vocabulary.
  LlamaTokenizer(const Metadata& metadata, VocabularyKeys keys);

  using Tokenizer::Encode;
  std::vector<Token> Encode(std::string_view text, const EncodeOptions& options) const override;
  std::string Decode(std::span<const Token> tokens) const override;
  std::string Piece(Token token) const override;
  std::size_t LongestPiece() const override { return longest_piece_; }
  bool IsControl(Token token) const override { return keys_.IsControl(token); }
  int contexts() const override { return sentence_piece_ != nullptr ? 2 : 1; }
  int ContextAfter(Token) const override { return contexts() - 1; }
  std::string TextIn(int context, Token token) const override;
  std::vector<Token> Prefix() const override;
  std::vector<Token> Suffix() const override;
  std::vector<Token> EncodeChat(std::span<const ChatMessage> messages) const override {
    return EncodeChatWith(messages, {});
  }
  std::vector<Token> EncodeChatWith(std::span<const ChatMessage> messages, const ChatOptions& options) const override;
  bool has_thinking_switch() const override;
  ToolForm tool_form() const override;

  /// End of sequence first, then end of turn, then whatever else ends an answer for libllama.
  std::vector<Token> EndTokens() const;

 private:
  struct ModelDelete {
    void operator()(llama_model* model) const { llama_model_free(model); }
  };

  /// A text in which nothing is special.
  void EncodePlain(std::string_view text, const EncodeOptions& options, std::vector<Token>& tokens) const;
  /// The same by libllama, which splits the text into words and merges within them.
  void EncodeWords(const std::string& text, std::vector<Token>& tokens) const;
  [[noreturn]] void NoTokens(std::string_view text) const;

  VocabularyKeys keys_;
  SpecialTokens specials_;
  SpecialTokens added_words_;
  std::vector<bool> is_special_;
  std::unique_ptr<llama_model, ModelDelete> model_;
  const llama_vocab* vocab_;
  std::unique_ptr<const SentencePiece> sentence_piece_;  // null: byte-level BPE
  bool adds_space_ = false;                              // SentencePiece: puts a space before a text
  std::size_t longest_piece_ = 0;
};

}  // namespace punt
