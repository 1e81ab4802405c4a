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
                           {"assistant", "assistant"}, {"tool", "user"},        {"function", "user"}};

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

/// The assistant's tool calls, one line each.
std::string ReadCalls(const Json& message, const std::string& field) {
  std::vector<const Json*> calls;
  if (const Json* list = FindField(message, "tool_calls")) {
    if (!list->is_array()) RefuseField(field + ".tool_calls", "must be a list");
    for (const Json& call : *list) calls.push_back(call.is_object() ? FindField(call, "function") : nullptr);
  }
  if (const Json* call = FindField(message, "function_call")) calls.push_back(call);
  std::string text;
  for (const Json* call : calls) {
    if (call == nullptr || !call->is_object()) RefuseField(field + ".tool_calls", "must hold calls of functions");
    const std::string prefix = field + ".tool_calls.function.";
    text += fmt::format("{}{}({})", text.empty() ? "" : "\n", TextField(*call, "name", prefix).value_or(""),
                        TextField(*call, "arguments", prefix).value_or(""));
  }
  return text;
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
    const std::string calls = is_assistant ? ReadCalls(message, field) : "";
    std::string content = ReadContent(message, field + ".content", is_assistant);
    if (!content.empty() && !calls.empty()) content += '\n';
    messages.push_back({.role = role.told_as, .content = content + calls});
  }
  return messages;
}

std::string PlainChat(const std::vector<ChatMessage>& messages) {
  std::string text;
  for (std::size_t i = 0; i < messages.size(); ++i) text += (i == 0 ? "" : "\n") + messages[i].content;
  return text;
}

}  // namespace punt
