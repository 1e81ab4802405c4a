// The tokenizer files of a Hugging Face folder as GGUF keys.
#pragma once

#include <filesystem>

#include "weights/metadata.h"

namespace punt {

/// Adds the `tokenizer.*` keys to `metadata` from tokenizer.json (byte-level BPE, WordPiece), vocab.json and merges.txt
/// (Dream, Qwen 2, GPT-2) or vocab.txt (BERT, ESM), with tokenizer_config.json, special_tokens_map.json and config.json
/// for special tokens, ids and chat template. Without any of them metadata is left alone. Throws Error naming file and
/// field.
void AddHfTokenizer(const std::filesystem::path& folder, Metadata& metadata);

}  // namespace punt
