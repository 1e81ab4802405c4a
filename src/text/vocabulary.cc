#include "text/vocabulary.h"

#include "text/esm_tokenizer.h"
#include "text/llama_tokenizer.h"
#include "text/vocabulary_keys.h"
#include "text/wordpiece_tokenizer.h"

namespace punt {

Vocabulary OpenVocabulary(const Metadata& metadata) {
  VocabularyKeys keys = ReadVocabularyKeys(metadata);
  Vocabulary vocabulary;
  vocabulary.size = static_cast<int>(keys.size());
  vocabulary.mask_token = keys.mask.value_or(-1);
  vocabulary.has_chat_template = !keys.chat_template.empty();
  if (const auto expand = keys.Find("<|expand|>")) {
    const std::optional<Token> remove = keys.Find("<|delete|>");
    vocabulary.length_tokens = {.expand = *expand, .remove = remove ? *remove : keys.eos.value_or(-1)};
  }
  if (keys.model == "bert") {
    if (keys.separator) vocabulary.eos_tokens = {*keys.separator};
    WordPieceOptions options;
    options.lowercase = metadata.BooleanOr("tokenizer.ggml.normalizer.lowercase", true);
    options.strip_accents = metadata.BooleanOr("tokenizer.ggml.normalizer.strip_accents", options.lowercase);
    vocabulary.has_chat_template = false;
    vocabulary.tokenizer = std::make_shared<WordPieceTokenizer>(std::move(keys), options);
  } else if (keys.model == "esm") {
    if (keys.eos) vocabulary.eos_tokens = {*keys.eos};
    vocabulary.has_chat_template = false;
    vocabulary.tokenizer = std::make_shared<EsmTokenizer>(std::move(keys));
  } else {
    auto tokenizer = std::make_shared<LlamaTokenizer>(metadata, std::move(keys));
    vocabulary.eos_tokens = tokenizer->EndTokens();
    vocabulary.tokenizer = std::move(tokenizer);
  }
  return vocabulary;
}

}  // namespace punt
