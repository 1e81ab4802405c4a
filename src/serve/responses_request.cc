// The body becomes that of a chat, which is parsed as such; the fields that its errors name are translated back.
#include "serve/responses_request.h"

#include <fmt/format.h>

#include <optional>
#include <set>

#include "base/json_text.h"
#include "base/parse_json.h"
#include "serve/api_error.h"
#include "serve/json_body.h"
#include "serve/json_fields.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

struct Refusal {
  const char* name;
  const char* why;
};

constexpr Refusal kRefused[] = {
    {"previous_response_id", "is not supported: the server keeps no answers; send the whole conversation"},
    {"conversation", "is not supported: the server keeps no conversations"},
    {"background", "is not supported: answers are not kept"},
    {"prompt", "is not supported: the server has no stored prompts"},
    {"messages", "belongs to /v1/chat/completions; the setting is called input"},
    {"response_format", "belongs to /v1/chat/completions; the setting is called text.format"},
    {"max_tokens", "belongs to /v1/chat/completions; the setting is called max_output_tokens"},
    {"max_completion_tokens", "belongs to /v1/chat/completions; the setting is called max_output_tokens"},
    {"n", "belongs to /v1/chat/completions; there is one answer"},
    {"diffusing", "belongs to /v1/chat/completions; streams are settled text"},
};

// Those that cannot make a difference here, or that are read apart.
constexpr const char* kLeftOut[] = {
    "input",      "instructions", "text",      "tools",      "tool_choice",    "max_output_tokens", "store",
    "truncation", "include",      "reasoning", "background", "stream_options", "max_tool_calls"};

bool IsNothing(const Json& value) { return value.is_null() || value == false || value == ""; }

std::string TextOf(const Json& content, const std::string& field) {
  if (content.is_string()) return content.get<std::string>();
  if (!content.is_array()) RefuseField(field, "must be a text or a list of parts");
  std::string text;
  for (std::size_t i = 0; i < content.size(); ++i) {
    const Json& part = content[i];
    const std::string own = fmt::format("{}[{}]", field, i);
    const std::string type = part.is_object() && part.contains("type") ? Dump(part["type"]) : "";
    const bool is_refusal = type == "\"refusal\"";
    if (!is_refusal && type != "\"input_text\"" && type != "\"output_text\"" && type != "\"text\"") {
      RefuseField(own, "must be of type input_text or output_text; only text is understood");
    }
    const auto found = part.find(is_refusal ? "refusal" : "text");
    if (found == part.end() || !found->is_string()) RefuseField(own + ".text", "must be a string");
    text += found->get<std::string>();
  }
  return text;
}

/// Messages out of items. A call belongs to the assistant's message before it.
class Items {
 public:
  void Add(const Json& item, const std::string& field) {
    if (!item.is_object()) RefuseField(field, "must be an object");
    const Json type = item.value("type", Json("message"));
    if (type == "message") {
      messages_.push_back({{"role", item.value("role", Json())},
                           {"content", TextOf(item.value("content", Json()), field + ".content")}});
    } else if (type == "function_call") {
      const bool goes_on = !messages_.empty() && messages_.back()["role"] == "assistant";
      if (!goes_on) messages_.push_back({{"role", "assistant"}, {"content", nullptr}});
      messages_.back()["tool_calls"].push_back(
          {{"id", item.value("call_id", Json())},
           {"type", "function"},
           {"function", {{"name", item.value("name", Json())}, {"arguments", item.value("arguments", Json())}}}});
    } else if (type == "function_call_output") {
      messages_.push_back({{"role", "tool"},
                           {"tool_call_id", item.value("call_id", Json())},
                           {"content", TextOf(item.value("output", Json()), field + ".output")}});
    } else if (type != "reasoning") {  // thoughts of before are not told again
      RefuseField(field + ".type", "must be message, function_call, function_call_output or reasoning");
    }
    while (places_.size() < messages_.size()) places_.push_back(field);
  }

  void Instruct(const Json& text) {
    if (!text.is_string()) RefuseField("instructions", "must be a string");
    messages_.push_back({{"role", "system"}, {"content", text}});
    places_.push_back("instructions");
  }

  const Json& messages() const { return messages_; }
  /// Where the message of this number came from.
  const std::string& place(std::size_t index) const { return places_[index]; }
  std::size_t size() const { return places_.size(); }

 private:
  Json messages_ = Json::array();
  std::vector<std::string> places_;
};

Items ReadItems(const Json& body) {
  Items items;
  if (const auto text = body.find("instructions"); text != body.end() && !text->is_null()) items.Instruct(*text);
  const auto input = body.find("input");
  if (input == body.end() || input->is_null()) RefuseField("input", "is missing");
  if (input->is_string()) {
    items.Add({{"role", "user"}, {"content", *input}}, "input");
    return items;
  }
  if (!input->is_array() || input->empty()) RefuseField("input", "must be a text or a list of items");
  for (std::size_t i = 0; i < input->size(); ++i) items.Add((*input)[i], fmt::format("input[{}]", i));
  return items;
}

Json Without(const Json& object, const char* name) {
  Json rest = object;
  rest.erase(name);
  return rest;
}

Json Nested(const Json& object) { return {{"type", "function"}, {"function", Without(object, "type")}}; }

Json ChatTools(const Json& tools) {
  if (!tools.is_array()) return tools;
  Json list = Json::array();
  for (const Json& tool : tools) {
    const bool is_function = tool.is_object() && tool.value("type", Json("function")) == "function";
    list.push_back(is_function ? Nested(tool) : tool);
  }
  return list;
}

/// The response_format; null if there is none.
Json Format(const Json& text) {
  if (text.is_null()) return nullptr;
  if (!text.is_object()) RefuseField("text", "must be an object");
  const Json format = text.value("format", Json());
  const bool has_schema = format.is_object() && format.value("type", Json()) == "json_schema";
  if (!has_schema) return format;
  return {{"type", "json_schema"}, {"json_schema", Without(format, "type")}};
}

Json ChatBody(const Json& body, const Items& items) {
  const std::set<std::string> left_out(std::begin(kLeftOut), std::end(kLeftOut));
  Json chat = {{"messages", items.messages()}};
  for (const auto& [name, value] : body.items()) {
    for (const Refusal& refusal : kRefused) {
      if (name == refusal.name && !IsNothing(value)) RefuseField(name, refusal.why);
    }
    if (!left_out.contains(name)) chat[name] = value;
  }
  const auto take = [&](const char* name) { return body.value(name, Json()); };
  if (!take("tools").is_null()) chat["tools"] = ChatTools(take("tools"));
  const Json choice = take("tool_choice");
  if (!choice.is_null()) chat["tool_choice"] = choice.is_object() && choice.contains("name") ? Nested(choice) : choice;
  if (!take("max_output_tokens").is_null()) chat["max_tokens"] = take("max_output_tokens");
  if (const Json format = Format(take("text")); !format.is_null()) chat["response_format"] = format;
  return chat;
}

void Replace(std::string& text, const std::string& from, const std::string& to) {
  if (const std::size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
}

/// The error with the fields' names of this API.
ApiError Translated(const ApiError& error, const Items& items) {
  std::string field = error.param();
  if (field.starts_with("messages[")) {
    const std::size_t end = field.find(']');
    const std::size_t index = std::stoul(field.substr(9, end - 9));
    if (index < items.size()) field = items.place(index) + field.substr(end + 1);
    Replace(field, ".tool_call_id", ".call_id");
    if (const std::size_t call = field.find(".tool_calls"); call != std::string::npos) {
      field = field.substr(0, call) + field.substr(std::min(field.size(), field.rfind('.')));
    }
  } else if (field.starts_with("tools[") || field.starts_with("tool_choice")) {
    Replace(field, ".function", "");
  } else if (field.starts_with("response_format")) {
    field.replace(0, std::string_view("response_format").size(), "text.format");
    Replace(field, ".json_schema", "");
  } else if (field == "max_tokens") {
    field = "max_output_tokens";
  }
  std::string message = error.what();
  if (!error.param().empty() && message.starts_with(error.param())) message.replace(0, error.param().size(), field);
  return ApiError(error.status(), error.code(), message, field);
}

/// What answers repeat of their request.
Json Echo(const Json& body) {
  Json echo = Json::object();
  const auto take = [&](const char* name, const Json& otherwise) {
    const Json value = body.value(name, Json());
    echo[name] = value.is_null() ? otherwise : value;
  };
  take("instructions", nullptr);
  take("max_output_tokens", nullptr);
  take("metadata", Json::object());
  take("parallel_tool_calls", true);
  take("temperature", nullptr);
  take("top_p", nullptr);
  take("text", {{"format", {{"type", "text"}}}});
  take("tools", Json::array());
  take("tool_choice", "auto");
  echo["store"] = false;
  echo["previous_response_id"] = nullptr;
  echo["truncation"] = "disabled";
  return echo;
}

}  // namespace

CompletionRequest ParseResponses(std::string_view text, const RequestLimits& limits, const Sampling& usual) {
  if (!ParseBody(text).is_object()) throw ApiError(400, "invalid_json", "the body must be a JSON object");
  const Json body = ParseJson<Json>(text);
  const Items items = ReadItems(body);
  try {
    CompletionRequest request = ParseCompletion(Dump(ChatBody(body, items)), true, limits, usual);
    if (request.stream_kind != StreamKind::kSettled) RefuseField("diffusion.stream", "must be settled");
    if (request.constraint_field == "response_format") request.constraint_field = "text.format";
    request.responses_echo = Dump(Echo(body));
    return request;
  } catch (const ApiError& error) {
    throw Translated(error, items);
  }
}

}  // namespace punt
