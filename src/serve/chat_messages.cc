#include "serve/chat_messages.h"

#include <fmt/format.h>

#include "serve/json_fields.h"

namespace punt {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostMessages = 1024;

struct Role {
  const char* name;
  const char* told_as;
};

constexpr Role kRoles[] = {{"system", "system"},       {"developer", "system"}, {"user", "user"},
                           {"assistant", "assistant"}, {"tool", "tool"},        {"function", "tool"}};

const Role& ReadRole(const Json& message, const std::string& field) {
  const auto name = TextField(message, "role", field + ".");
  for (const Role& role : kRoles) {
    if (name == role.name) return role;
  }
  RefuseField(field + ".role", "must be system, developer, user, assistant, tool or function");
}

std::string ReadPart(const Json& part, const std::string& field) {
  if (part.is_string()) return part.get<std::string>();
  if (!part.is_object()) RefuseField(field, "must be an object");
  const std::string type = TextField(part, "type", field + ".").value_or("");
  if (type != "text" && type != "refusal") {
    RefuseField(field, fmt::format("is of type '{}'; only text is understood", Shown(type)));
  }
  const auto text = TextField(part, type, field + ".");
  if (!text) RefuseField(field + "." + type, "is missing");
  return *text;
}

ToolCall ReadFunction(const Json* function, const std::string& field, const std::string& prefix) {
  if (function == nullptr || !function->is_object()) RefuseField(field, "must hold calls of functions");
  const auto name = TextField(*function, "name", prefix);
  if (!name || name->empty()) RefuseField(prefix + "name", "is missing");
  return {.id = "", .name = *name, .arguments = TextField(*function, "arguments", prefix).value_or("{}")};
}

std::vector<ToolCall> ReadCalls(const Json& message, const std::string& field) {
  std::vector<ToolCall> calls;
  if (const Json* list = FindField(message, "tool_calls")) {
    if (!list->is_array()) RefuseField(field + ".tool_calls", "must be a list");
    for (std::size_t i = 0; i < list->size(); ++i) {
      const Json& call = (*list)[i];
      const std::string own = fmt::format("{}.tool_calls[{}]", field, i);
      const Json* function = call.is_object() ? FindField(call, "function") : nullptr;
      calls.push_back(ReadFunction(function, field + ".tool_calls", own + ".function."));
      calls.back().id = TextField(call, "id", own + ".").value_or("");
    }
  }
  if (const Json* call = FindField(message, "function_call")) {
    calls.push_back(ReadFunction(call, field + ".function_call", field + ".function_call."));
  }
  return calls;
}

/// The call that a tool answers.
std::string ReadCallId(const Json& message, const std::string& field, const std::vector<ChatMessage>& before) {
  const auto id = TextField(message, "tool_call_id", field + ".");
  if (!id) RefuseField(field + ".tool_call_id", "is missing");
  for (const ChatMessage& other : before) {
    for (const ToolCall& call : other.calls) {
      if (call.id == *id) return *id;
    }
  }
  RefuseField(field + ".tool_call_id", fmt::format("is '{}', which no call before it has", Shown(*id)));
}

std::string ReadContent(const Json& message, const std::string& field, bool may_be_missing) {
  const Json* content = FindField(message, "content");
  if (content == nullptr) {
    if (!may_be_missing) RefuseField(field, message.contains("content") ? "is null" : "is missing");
    return "";
  }
  if (content->is_string()) return content->get<std::string>();
  if (!content->is_array()) RefuseField(field, "must be a string or a list of parts");
  std::string text;
  for (std::size_t i = 0; i < content->size(); ++i) text += ReadPart((*content)[i], fmt::format("{}[{}]", field, i));
  return text;
}

}  // namespace

std::vector<ChatMessage> ReadMessages(const Json& body) {
  const Json* list = FindField(body, "messages");
  if (list == nullptr || !list->is_array() || list->empty()) RefuseField("messages", "must be a list of messages");
  if (list->size() > kMostMessages) RefuseField("messages", fmt::format("has more than {} entries", kMostMessages));
  std::vector<ChatMessage> messages;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const Json& message = (*list)[i];
    const std::string field = fmt::format("messages[{}]", i);
    if (!message.is_object()) RefuseField(field, "must be an object");
    const Role& role = ReadRole(message, field);
    const bool is_assistant = std::string_view(role.name) == "assistant";
    ChatMessage read{.role = role.told_as, .content = ReadContent(message, field + ".content", is_assistant)};
    if (is_assistant) read.calls = ReadCalls(message, field);
    if (std::string_view(role.name) == "tool") read.call_id = ReadCallId(message, field, messages);
    messages.push_back(std::move(read));
  }
  return messages;
}

std::string PlainChat(const std::vector<ChatMessage>& messages) {
  std::string text;
  for (std::size_t i = 0; i < messages.size(); ++i) text += (i == 0 ? "" : "\n") + messages[i].content;
  return text;
}

}  // namespace punt
