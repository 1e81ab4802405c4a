// The prompts of a request: a text, a list of tokens, or a list of either. For .cc files only: it includes the JSON
// library.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "serve/completion_request.h"

namespace punt {

/// The member `prompt` of a body; an empty one if it is missing. Throws ApiError (400) naming what is wrong. Tokens are
/// not checked against the model here.
std::vector<Prompt> ReadPrompts(const nlohmann::json& body, const RequestLimits& limits);

}  // namespace punt
