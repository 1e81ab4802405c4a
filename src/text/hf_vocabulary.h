// What the tokenizer files of a Hugging Face folder say, before it becomes GGUF keys.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/hf_json.h"
#include "text/vocabulary_keys.h"

namespace punt {

struct HfVocabulary {
  std::string origin;               // the file with the tokens, for errors
  std::string model;                // for tokenizer.ggml.model: gpt2, bert, esm
  std::string pre;                  // gpt2: name of the pre-tokenizer
  std::vector<std::string> tokens;  // in their own spelling (##ing); an empty one is a gap
  std::vector<TokenKind> kinds;
  std::vector<std::string> merges;
  bool normalize_nfc = false;
  bool lowercase = true;      // bert
  bool strip_accents = true;  // bert
  std::string prefix;         // the token that the post-processor puts in front; empty: none
  std::string suffix;
  std::unordered_map<std::string, Token> token_of;

  /// Throws Error naming the origin when the id is taken or out of bounds, or the text is empty, taken, or has a zero
  /// byte. Grows the list.
  void Add(const std::string& text, std::int64_t id, TokenKind kind);
  std::optional<Token> Find(const std::string& text) const;
};

/// tokenizer.json, from memory. `origin` names it in errors. Throws Error naming field and offending value for
/// malformed files and for tokenizers of kinds that are not supported.
HfVocabulary ParseTokenizerJson(std::string_view bytes, const std::string& origin);

/// By the "type" of its model. For ParseTokenizerJson.
HfVocabulary ReadHfBpe(const HfJson& tokenizer);
HfVocabulary ReadHfWordPiece(const HfJson& tokenizer);
HfVocabulary ReadHfLetters(const HfJson& tokenizer);

/// Adds "added_tokens" to tokens that were read from "model.vocab".
void AddAddedTokens(const HfJson& tokenizer, HfVocabulary& vocabulary);

/// vocab.json, merges.txt and the added tokens of `folder`; `tokenizer_config` or, if that does not name the
/// tokenizer's class, the model's type decides the pre-tokenizer. Errors name the folder and the field that
/// tokenizer.json would have.
HfVocabulary ReadBpeFiles(const std::filesystem::path& folder, const HfJson& tokenizer_config,
                          std::string_view model_type);

/// vocab.txt, one token per line, of BERT and of ESM. `config` is tokenizer_config.json.
HfVocabulary ReadBertVocab(const std::filesystem::path& file, const HfJson& config);
HfVocabulary ReadEsmVocab(const std::filesystem::path& file);
/// Whether the tokens of a vocab.txt are letters that are written without spaces between them (amino acids; atoms and
/// bonds): all are short, and none is the inside of a word.
bool IsVocabOfLetters(const std::filesystem::path& file);

}  // namespace punt
