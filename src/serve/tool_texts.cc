#include "serve/tool_texts.h"

#include <fmt/format.h>

#include "base/json_text.h"

namespace punt {
namespace {

std::string Instructions(std::span<const Tool> tools) {
  std::string text = "You may call these functions:\n<tools>\n";
  for (const Tool& tool : tools) text.append(tool.text).append("\n");
  return text +
         "</tools>\nTo call one, write its name and its arguments as JSON:\n<tool_call>\n"
         "{\"name\": \"the function's name\", \"arguments\": {}}\n</tool_call>";
}

std::string InWords(const ToolCall& call) {
  return fmt::format("{}\n{{\"name\": {}, \"arguments\": {}}}\n{}", kCallOpen, Dump(nlohmann::json(call.name)),
                     call.arguments.empty() ? "{}" : call.arguments, kCallClose);
}

}  // namespace

std::vector<ChatMessage> ToolsInWords(std::span<const ChatMessage> messages, std::span<const Tool> tools) {
  std::vector<ChatMessage> told;
  bool goes_on = false;  // with what another tool answered
  for (const ChatMessage& message : messages) {
    ChatMessage plain{.role = message.role, .content = message.content};
    for (const ToolCall& call : message.calls) {
      if (!plain.content.empty()) plain.content += '\n';
      plain.content += InWords(call);
    }
    const bool is_tool = message.role == "tool";
    if (is_tool) {
      plain.role = "user";
      plain.content = fmt::format("<tool_response>\n{}\n</tool_response>", message.content);
    }
    if (is_tool && goes_on) {
      told.back().content += "\n" + plain.content;
    } else {
      told.push_back(std::move(plain));
    }
    goes_on = is_tool;
  }
  if (tools.empty()) return told;
  if (told.empty() || told.front().role != "system") told.insert(told.begin(), {.role = "system", .content = ""});
  std::string& system = told.front().content;
  if (!system.empty()) system += "\n\n";
  system += Instructions(tools);
  return told;
}

}  // namespace punt
