// Log-probabilities of tokens in OpenAI's two formats, with the step and the entropy of each row besides.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "punt/tokenizer.h"
#include "punt/writer.h"

namespace punt {

/// Of a chat {"content": [{"token", "logprob", "bytes", "top_logprobs", "token_id", "step", "entropy"}, ...]}, else
/// {"tokens", "token_logprobs", "top_logprobs", "text_offset", "token_ids", "steps", "entropies"}. Tokens that were
/// given have null there; an impossible token has -9999, OpenAI's number for it. A part of a character is written as
/// "bytes:\xe2".
nlohmann::ordered_json LogprobsJson(std::span<const TextToken> tokens, bool chat, const Tokenizer& tokenizer);

}  // namespace punt
