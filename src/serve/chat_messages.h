// The messages of a chat as OpenAI's clients send them, histories of agents included.
//
//   developer         is system
//   tool, function    what a tool answered; a tool names the call, which an assistant before it has made
//   tool_calls        of the assistant, or function_call: beside its content, which may then be null
//   content           a string, or a list of parts of type text (or refusal); images and the like are refused by name
//
// For .cc files only: it includes the JSON library.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "punt/tokenizer.h"

namespace punt {

/// The member `messages` of a body. Throws ApiError (400) naming what is wrong.
std::vector<ChatMessage> ReadMessages(const nlohmann::json& body);

/// A chat for a model without a template: the contents of the messages in order, separated by newlines, without role
/// names. The answer continues the last one.
std::string PlainChat(const std::vector<ChatMessage>& messages);

}  // namespace punt
