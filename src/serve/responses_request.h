// Requests of OpenAI's newer API, /v1/responses, in its basic form: no answers are kept, so each request brings the
// whole conversation.
#pragma once

#include <string>
#include <string_view>

#include "serve/completion_request.h"

namespace punt {

/// The same as a chat. Throws ApiError (400) naming the field as it is called here.
///   input                       a text, or a list of messages, function_call and function_call_output
///   instructions                the system message
///   max_output_tokens           max_tokens
///   text.format                 response_format
///   tools, tool_choice          those of chats, without the object `function`
/// Other settings are those of chats, except that there is one answer and streams are settled text.
CompletionRequest ParseResponses(std::string_view body, const RequestLimits& limits, const Sampling& usual = {});

}  // namespace punt
