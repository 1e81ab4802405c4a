// Tokenizers of what --model names, toy models included.
#pragma once

#include <memory>
#include <string>

#include "punt/tokenizer.h"

namespace punt {

/// A toy model "toy:...", a GGUF file or a Hugging Face folder; no weights are read. Throws Error.
std::shared_ptr<const Tokenizer> OpenTokenizer(const std::string& model);

/// The whole standard input. Throws Error when it cannot be read, or is larger than 64 MB.
std::string ReadStandardInput();

}  // namespace punt
