#include "serve/responses_form.h"

#include <fmt/format.h>

#include "base/json_text.h"

namespace punt {
namespace {

constexpr std::string_view kReasoning = "reasoning";

}  // namespace

ResponsesForm::ResponsesForm(AnswerHead head, std::string_view echo)
    : head_(std::move(head)), echo_(Json::parse(echo)) {}

std::string ResponsesForm::NewId(const char* kind) const {
  return fmt::format("{}_{}_{}", kind, head_.id.substr(head_.id.find('_') + 1), output_.size());
}

std::string ResponsesForm::Event(const char* type, Json fields) {
  Json event = {{"type", type}, {"sequence_number", events_++}};
  event.update(fields);
  return fmt::format("event: {}\ndata: {}\n\n", type, Dump(event));
}

ResponsesForm::Json ResponsesForm::Response(const char* status) const {
  Json response = {{"id", head_.id},       {"object", "response"}, {"created_at", head_.created},
                   {"status", status},     {"error", nullptr},     {"incomplete_details", nullptr},
                   {"model", head_.model}, {"output", output_}};
  response.update(echo_);
  response["usage"] = nullptr;
  return response;
}

std::string ResponsesForm::Begin() {
  if (events_ > 0) return "";
  const Json response = Response("in_progress");
  std::string bytes = Event("response.created", {{"response", response}});
  return bytes += Event("response.in_progress", {{"response", response}});
}

ResponsesForm::Json ResponsesForm::Part(const std::string& text) const {
  if (open_ == kReasoning) return {{"type", "reasoning_text"}, {"text", text}};
  return {{"type", "output_text"}, {"text", text}, {"annotations", Json::array()}};
}

std::string ResponsesForm::Grow(const char* kind, std::string_view more) {
  if (more.empty()) return "";
  std::string bytes;
  const bool is_reasoning = kind == kReasoning;
  if (open_ != kind) {
    bytes += Close();
    Json item = {{"id", NewId(is_reasoning ? "rs" : "msg")}, {"type", kind}, {"status", "in_progress"}};
    if (is_reasoning) item["summary"] = Json::array();
    if (!is_reasoning) item["role"] = "assistant";
    item["content"] = Json::array();
    open_ = kind;
    output_.push_back(item);
    const std::size_t index = output_.size() - 1;
    bytes += Event("response.output_item.added", {{"output_index", index}, {"item", item}});
    bytes += Event("response.content_part.added",
                   {{"item_id", item["id"]}, {"output_index", index}, {"content_index", 0}, {"part", Part("")}});
  }
  text_ += more;
  Json delta = {
      {"item_id", output_.back()["id"]}, {"output_index", output_.size() - 1}, {"content_index", 0}, {"delta", more}};
  if (!is_reasoning) delta["logprobs"] = Json::array();
  return bytes + Event(is_reasoning ? "response.reasoning_text.delta" : "response.output_text.delta", delta);
}

std::string ResponsesForm::Close() {
  if (open_.empty()) return "";
  const bool is_reasoning = open_ == kReasoning;
  Json& item = output_.back();
  item["status"] = "completed";
  item["content"].push_back(Part(text_));
  const std::size_t index = output_.size() - 1;
  Json done = {{"item_id", item["id"]}, {"output_index", index}, {"content_index", 0}, {"text", text_}};
  if (!is_reasoning) done["logprobs"] = Json::array();
  std::string bytes = Event(is_reasoning ? "response.reasoning_text.done" : "response.output_text.done", done);
  bytes += Event("response.content_part.done",
                 {{"item_id", item["id"]}, {"output_index", index}, {"content_index", 0}, {"part", Part(text_)}});
  bytes += Event("response.output_item.done", {{"output_index", index}, {"item", item}});
  open_.clear();
  text_.clear();
  return bytes;
}

std::string ResponsesForm::Call(const ToolCall& call) {
  std::string bytes = Close();
  has_calls_ = true;
  const Json id = NewId("fc");
  const auto item = [&](const char* status, const std::string& arguments) {
    return Json{{"id", id},           {"type", "function_call"}, {"status", status},
                {"call_id", call.id}, {"name", call.name},       {"arguments", arguments}};
  };
  const std::size_t index = output_.size();
  bytes += Event("response.output_item.added", {{"output_index", index}, {"item", item("in_progress", "")}});
  bytes += Event("response.function_call_arguments.delta",
                 {{"item_id", id}, {"output_index", index}, {"delta", call.arguments}});
  bytes += Event("response.function_call_arguments.done",
                 {{"item_id", id}, {"output_index", index}, {"name", call.name}, {"arguments", call.arguments}});
  output_.push_back(item("completed", call.arguments));
  return bytes + Event("response.output_item.done", {{"output_index", index}, {"item", output_.back()}});
}

std::string ResponsesForm::Add(std::string_view reasoning, const CallParts& parts) {
  std::string bytes = Begin();
  bytes += Grow("reasoning", reasoning);
  bytes += Grow("message", parts.content);
  for (const ToolCall& call : parts.calls) bytes += Call(call);
  return bytes;
}

std::string ResponsesForm::End(const ChoiceResult& result, const Completion& completion) {
  std::string bytes = Begin();
  bytes += Close();
  const bool is_whole = has_calls_ || result.text.finish_reason == "stop";
  const Usage usage = completion.usage();
  Json response = Response(is_whole ? "completed" : "incomplete");
  if (!is_whole) response["incomplete_details"] = {{"reason", "max_output_tokens"}};
  const RequestSeed& seed = completion.seed();
  response["usage"] = {{"input_tokens", usage.prompt_tokens},
                       {"input_tokens_details", {{"cached_tokens", 0}}},
                       {"output_tokens", usage.completion_tokens},
                       {"output_tokens_details", {{"reasoning_tokens", 0}}},
                       {"total_tokens", usage.prompt_tokens + usage.completion_tokens},
                       {"nfe", usage.nfe()},
                       {"seed", seed.is_negative ? Json(static_cast<std::int64_t>(seed.bits)) : Json(seed.bits)}};
  if (!head_.ignored.empty()) response["ignored"] = head_.ignored;
  whole_ = Dump(response);
  return bytes + Event(is_whole ? "response.completed" : "response.incomplete", {{"response", response}});
}

}  // namespace punt
