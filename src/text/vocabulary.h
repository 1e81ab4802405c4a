// Tokenizers of real models: made from the `tokenizer.*` keys of GGUF metadata, which a GGUF file holds and which
// hf_tokenizer.h makes from the files of a Hugging Face folder.
#pragma once

#include <memory>
#include <vector>

#include "punt/denoiser.h"
#include "punt/tokenizer.h"
#include "weights/metadata.h"

namespace punt {

/// A tokenizer with what a denoiser must know about its tokens.
struct Vocabulary {
  std::shared_ptr<const Tokenizer> tokenizer;
  int size = 0;
  Token mask_token = -1;          // -1: none is named
  std::vector<Token> eos_tokens;  // end of sequence first, then end of turn and other ends
  bool has_chat_template = false;
  LengthTokens length_tokens;  // by their texts: "<|expand|>", and "<|delete|>" or the end of sequence in its place
};

/// Throws Error naming the origin and the key when the metadata is incomplete or inconsistent.
Vocabulary OpenVocabulary(const Metadata& metadata);

}  // namespace punt
