// The language of an answer that calls tools.
#pragma once

#include <optional>

#include "constrain/byte_automaton.h"
#include "constrain/language.h"
#include "serve/tool_request.h"

namespace punt {

/// None if the answer is free. If calls are required: calls whose arguments fit their function's schema; one, or one
/// after another if there may be several. If the model decides, and `beside` asks for a language: either of the two.
/// Without tools: `beside` alone. Throws ApiError (400) with the field of the function's schema that is not supported,
/// and Error as CompileLanguage does.
std::optional<ByteAutomaton> AnswerLanguageOf(const ToolRequest& request, const LanguageSpec& beside);

}  // namespace punt
