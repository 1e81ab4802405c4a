// The tokenizer of a model without its weights.
#pragma once

#include <string_view>

#include "text/vocabulary.h"

namespace punt {

/// `model` is a GGUF file or a Hugging Face folder. Throws Error when it is neither or has no tokenizer.
Vocabulary OpenModelVocabulary(std::string_view model);

}  // namespace punt
