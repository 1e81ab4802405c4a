// The fields of a request that say which language an answer is to be in, as OpenAI and vLLM have them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "punt/sampling.h"

namespace punt {

/// Reads response_format, guided_json, guided_regex, guided_choice and structured_outputs into the sampling, in place
/// of the server's own constraint. `text` is the body as it came: the order of a schema's properties is that of the
/// answer's. Returns the field that was read; empty: none. Throws ApiError (400) naming the field that is wrong, also
/// when two of them ask for something.
std::string ReadConstraint(std::string_view text, const nlohmann::json& body, Sampling& sampling);

}  // namespace punt
