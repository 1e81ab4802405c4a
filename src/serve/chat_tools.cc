#include "serve/chat_tools.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_text.h"
#include "base/parse_json.h"
#include "serve/json_fields.h"

namespace punt {
namespace {

using Json = nlohmann::json;
using Ordered = nlohmann::ordered_json;

constexpr std::size_t kMostTools = 128;
constexpr std::size_t kLongestName = 64;

bool IsName(const std::string& name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  };
  return !name.empty() && name.size() <= kLongestName && std::all_of(name.begin(), name.end(), fits);
}

Tool ReadTool(const Json& tool, const Ordered& ordered, const std::string& field) {
  if (!tool.is_object()) RefuseField(field, "must be an object");
  const auto type = TextField(tool, "type", field + ".").value_or("function");
  if (type != "function")
    RefuseField(field + ".type", fmt::format("is '{}'; only function is understood", Shown(type)));
  const Json* function = FindField(tool, "function");
  if (function == nullptr || !function->is_object()) RefuseField(field + ".function", "must be an object");
  const std::string prefix = field + ".function.";
  const auto name = TextField(*function, "name", prefix);
  if (!name) RefuseField(prefix + "name", "is missing");
  if (!IsName(*name)) RefuseField(prefix + "name", "must be 1 to 64 letters, digits, underscores, dashes or points");
  TextField(*function, "description", prefix);
  Tool read{.name = *name, .text = Dump(ordered)};
  if (const Json* parameters = FindField(*function, "parameters")) {
    if (!parameters->is_object()) RefuseField(prefix + "parameters", "must be a JSON schema: an object");
    read.parameters = Dump(ordered["function"]["parameters"]);
  }
  return read;
}

std::vector<Tool> ReadList(std::string_view text, const Json& list) {
  if (!list.is_array()) RefuseField("tools", "must be a list of tools");
  if (list.size() > kMostTools) RefuseField("tools", fmt::format("has more than {} entries", kMostTools));
  if (list.empty()) return {};
  const Ordered ordered = ParseJson<Ordered>(text);
  std::vector<Tool> tools;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string field = fmt::format("tools[{}]", i);
    Tool tool = ReadTool(list[i], ordered["tools"][i], field);
    const bool is_twice = std::any_of(tools.begin(), tools.end(), [&](const Tool& t) { return t.name == tool.name; });
    if (is_twice) RefuseField(field + ".function.name", fmt::format("is '{}' a second time", tool.name));
    tool.index = i;
    tools.push_back(std::move(tool));
  }
  return tools;
}

void Choose(const Json& choice, ToolRequest& request) {
  constexpr const char* kValid =
      "must be none, auto, required or {\"type\": \"function\", \"function\": {\"name\": ...}}";
  if (choice.is_string()) {
    const auto word = choice.get<std::string>();
    if (word != "none" && word != "auto" && word != "required") RefuseField("tool_choice", kValid);
    if (word == "required" && request.tools.empty()) RefuseField("tool_choice", "is required, but there are no tools");
    if (word == "none") request.tools.clear();
    if (!request.tools.empty()) request.choice = word == "auto" ? ToolChoice::kAuto : ToolChoice::kRequired;
    return;
  }
  const Json* function = choice.is_object() ? FindField(choice, "function") : nullptr;
  if (function == nullptr || !function->is_object()) RefuseField("tool_choice", kValid);
  const auto name = TextField(*function, "name", "tool_choice.function.");
  if (!name) RefuseField("tool_choice.function.name", "is missing");
  std::erase_if(request.tools, [&](const Tool& tool) { return tool.name != *name; });
  if (request.tools.empty()) {
    RefuseField("tool_choice.function.name", fmt::format("is '{}', which is not among the tools", Shown(*name)));
  }
  request.choice = ToolChoice::kRequired;
  request.is_single = true;
}

}  // namespace

ToolRequest ReadTools(std::string_view text, const Json& body) {
  ToolRequest request;
  if (const Json* list = FindField(body, "tools")) request.tools = ReadList(text, *list);
  const bool is_parallel = FindField(body, "parallel_tool_calls") == nullptr || FlagField(body, "parallel_tool_calls");
  request.is_single = !is_parallel;
  const Json* choice = FindField(body, "tool_choice");
  Choose(choice != nullptr ? *choice : Json("auto"), request);
  return request;
}

}  // namespace punt
