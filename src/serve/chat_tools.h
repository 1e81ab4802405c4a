// The tools of a chat, as OpenAI's clients send them. For .cc files only: it includes the JSON library.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "serve/tool_request.h"

namespace punt {

/// Reads tools, tool_choice and parallel_tool_calls. `text` is the body as it came: the order of a schema's properties
/// is that of the arguments. Throws ApiError (400) naming what is wrong. Schemas are checked where they are used
/// (tool_language.h).
ToolRequest ReadTools(std::string_view text, const nlohmann::json& body);

}  // namespace punt
