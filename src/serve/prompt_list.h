// The prompts of a request: a text, a list of tokens, or a list of either. For .cc files only: it brings the JSON
// library along.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "serve/completion_request.h"

namespace punt {

/// The member `prompt` of a body; one that is empty when there is none. Throws ApiError (400) naming what is wrong;
/// which tokens there are is the model's to say.
std::vector<Prompt> ReadPrompts(const nlohmann::json& body, const RequestLimits& limits);

}  // namespace punt
