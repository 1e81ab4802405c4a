// The endpoints between text and tokens, as llama.cpp and vLLM have them.
#pragma once

#include <string>
#include <string_view>

#include "punt/model.h"

namespace punt {

/// Of {"content"} or {"prompt"}: {"tokens", "count", "max_model_len"}. What a prompt begins with (BOS) is put before
/// them as "add_special" says (default false), or for a prompt "add_special_tokens" (default true, as in vLLM). Throws
/// ApiError (400).
std::string TokenizeJson(const Model& model, std::string_view body);

/// Of {"tokens"}: {"content", "prompt"}, both the text. Throws ApiError (400).
std::string DetokenizeJson(const Model& model, std::string_view body);

/// {"eos_token", "bos_token", "pad_token"}: their texts, null where there is none.
std::string TokenizerInfoJson(const Model& model);

}  // namespace punt
