// The tokenizer.* keys of GGUF metadata, read and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "punt/types.h"
#include "text/special_tokens.h"
#include "weights/metadata.h"

namespace punt {

/// GGUF's kinds of tokens, by the numbers of `tokenizer.ggml.token_type`.
enum class TokenKind : std::int32_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6
};

/// Everything in here is consistent: there are as many kinds as tokens, tokens differ from each other and are valid
/// UTF-8, and ids lie inside the vocabulary.
struct VocabularyKeys {
  std::string origin;
  std::string model;  // gpt2, llama, bert, esm
  std::string pre;    // name of the pre-tokenizer, gpt2 only
  std::vector<std::string> tokens;
  std::vector<TokenKind> kinds;
  std::unordered_map<std::string, Token> token_of;

  std::optional<Token> bos, eos, eot, pad, unknown, mask, cls, separator;
  bool add_bos = false;
  bool add_eos = false;
  bool add_separator = false;
  bool normalize_nfc = false;
  std::string chat_template;  // empty: none

  std::size_t size() const { return tokens.size(); }
  /// Throws Error when `token` is not in the vocabulary.
  void RequireToken(Token token) const;
  /// Whether a token marks something, by its kind or its role; unknown words and masks stand for text. Throws likewise.
  bool IsControl(Token token) const;
  /// Throws Error naming the key when the token it gives is missing.
  Token Require(const std::optional<Token>& token, std::string_view key) const;
  std::optional<Token> Find(std::string_view text) const;
  /// Whether a token has a special meaning, which text from outside must not have: a control token, one with a role
  /// (BOS, mask), or one that was added to the vocabulary and is written in brackets ("<tool_call>").
  bool IsSpecial(Token token) const;
  /// Control, user-defined and unknown tokens: those that a text may spell out.
  SpecialTokens Specials() const;
  /// Those of them that are ordinary words, such as runs of spaces.
  SpecialTokens AddedWords() const;
};

/// Throws Error naming origin and key.
VocabularyKeys ReadVocabularyKeys(const Metadata& metadata);

}  // namespace punt
