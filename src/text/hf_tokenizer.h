// The tokenizer files of a Hugging Face folder as GGUF keys.
#pragma once

#include <filesystem>

#include "weights/metadata.h"

namespace punt {

/// Adds the `tokenizer.*` keys to `metadata` from tokenizer.json (byte-level BPE, WordPiece) or vocab.txt (BERT, ESM),
/// with tokenizer_config.json, special_tokens_map.json and config.json for special tokens, ids and chat template.
/// Throws Error naming file and field.
void AddHfTokenizer(const std::filesystem::path& folder, Metadata& metadata);

}  // namespace punt
