#include "serve/completion_json.h"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <random>

#include "base/json_text.h"
#include "serve/logprob_json.h"
#include "writer/text_tokens.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

/// An answer or a chunk of one, without choices.
Json Object(const AnswerHead& head, bool is_chunk) {
  const char* kind = !head.chat ? "text_completion" : is_chunk ? "chat.completion.chunk" : "chat.completion";
  return {{"id", head.id}, {"object", kind}, {"created", head.created}, {"model", head.model}};
}

Json ChunkOf(const AnswerHead& head, int choice, Json delta, const Json& finish_reason,
             const std::string& logprobs = "") {
  Json entry = {{"index", choice}};
  if (head.chat) {
    entry["delta"] = std::move(delta);
  } else {
    entry["text"] = delta.value("content", "");
  }
  entry["finish_reason"] = finish_reason;
  if (!logprobs.empty()) {
    entry["logprobs"] = Json::parse(logprobs);
  } else if (!head.chat) {
    entry["logprobs"] = nullptr;
  }
  Json object = Object(head, true);
  object["choices"] = Json::array({entry});
  return object;
}

Json SeedJson(const RequestSeed& seed) {
  return seed.is_negative ? Json(static_cast<std::int64_t>(seed.bits)) : Json(seed.bits);
}

void AddReasoning(const StreamPart& part, Json& delta) {
  if (!part.reasoning.empty()) delta["reasoning_content"] = part.reasoning;
}

Json CallJson(const ToolCall& call) {
  return {{"id", call.id}, {"type", "function"}, {"function", {{"name", call.name}, {"arguments", call.arguments}}}};
}

/// The message of a chat's choice. Its finish_reason becomes tool_calls if there are any.
Json MessageJson(const AnswerHead& head, const FinishedText& text, std::string& finish_reason) {
  CallParts parts = SplitCalls(head.calls, text.text);
  Json message = {{"role", "assistant"}, {"content", std::move(parts.content)}};
  if (!text.reasoning.empty()) message["reasoning_content"] = text.reasoning;
  if (parts.calls.empty()) return message;
  if (message["content"] == "") message["content"] = nullptr;
  for (const ToolCall& call : parts.calls) message["tool_calls"].push_back(CallJson(call));
  finish_reason = kCalls;
  return message;
}

/// The settings that were ignored.
void AddIgnored(const AnswerHead& head, Json& object) {
  if (!head.ignored.empty()) object["ignored"] = head.ignored;
}

Json UsageJson(const Completion& completion, double seconds) {
  const Usage usage = completion.usage();
  const double nfe = static_cast<double>(usage.nfe());
  std::int64_t committed = 0;
  for (const auto& result : completion.results()) committed += result ? result->run.committed : 0;
  return {{"prompt_tokens", usage.prompt_tokens},
          {"completion_tokens", usage.completion_tokens},
          {"total_tokens", usage.prompt_tokens + usage.completion_tokens},
          {"nfe", usage.nfe()},
          {"nfe_base", usage.base_passes},
          {"nfe_test", usage.test_passes},
          {"steps", usage.steps},
          {"tokens_per_forward", nfe == 0 ? 0.0 : static_cast<double>(committed) / nfe},
          {"seconds", seconds},
          {"seed", SeedJson(completion.seed())}};
}

/// Of the prompt, if it is repeated, and of the text.
Json LogprobsOf(const Completion& completion, const ChoiceResult& result, const EchoedPrompt* echoed) {
  const CompletionRequest& request = completion.request();
  if (!request.likelihood.logprobs) return nullptr;
  if (echoed == nullptr) return LogprobsJson(result.tokens, request.chat, completion.tokenizer());
  std::vector<TextToken> tokens = echoed->tokens;
  for (TextToken token : result.tokens) {
    token.offset += CharactersIn(echoed->text);
    tokens.push_back(std::move(token));
  }
  return LogprobsJson(tokens, false, completion.tokenizer());
}

}  // namespace

AnswerHead NewAnswer(bool chat, const std::string& model) {
  std::random_device device;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {.id = fmt::format("{}-{:08x}{:08x}{:08x}", chat ? "chatcmpl" : "cmpl", device(), device(), device()),
          .created = std::chrono::duration_cast<std::chrono::seconds>(now).count(),
          .model = model,
          .chat = chat,
          .ignored = {}};
}

std::string AnswerJson(const AnswerHead& head, const Completion& completion, double seconds) {
  Json object = Object(head, false);
  object["choices"] = Json::array();
  int index = 0;
  const EchoedPrompt* echoed = nullptr;  // of this choice's prompt
  for (const auto& result : completion.results()) {
    if (result->echoed) echoed = &*result->echoed;
    Json entry = {{"index", index++}};
    std::string finish_reason = result->text.finish_reason;
    if (head.chat) {
      entry["message"] = MessageJson(head, result->text, finish_reason);
    } else {
      entry["text"] = echoed != nullptr ? echoed->text + result->text.text : result->text.text;
    }
    entry["finish_reason"] = finish_reason;
    entry["logprobs"] = LogprobsOf(completion, *result, echoed);
    object["choices"].push_back(std::move(entry));
  }
  object["usage"] = UsageJson(completion, seconds);
  AddIgnored(head, object);
  return Dump(object);
}

std::string RoleChunk(const AnswerHead& head, int choice) {
  return Dump(ChunkOf(head, choice, {{"role", "assistant"}, {"content", ""}}, nullptr));
}

std::string TextChunk(const AnswerHead& head, const StreamPart& part) {
  Json delta = Json::object();
  AddReasoning(part, delta);
  if (!part.text.empty()) delta["content"] = part.text;
  return Dump(ChunkOf(head, part.choice, std::move(delta), nullptr, part.logprobs));
}

std::string CallsChunk(const AnswerHead& head, int choice, const std::vector<ToolCall>& calls, int first_index) {
  Json list = Json::array();
  for (const ToolCall& call : calls) {
    Json entry = {{"index", first_index++}};
    entry.update(CallJson(call));
    list.push_back(std::move(entry));
  }
  return Dump(ChunkOf(head, choice, {{"tool_calls", std::move(list)}}, nullptr));
}

std::string SnapshotChunk(const AnswerHead& head, const StreamPart& part) {
  Json delta = {{"content", part.text}};
  AddReasoning(part, delta);
  Json object = ChunkOf(head, part.choice, std::move(delta), nullptr);
  object["diffusion_meta"] = {{"diffusion_content", true}, {"diffusion_progress", part.progress}};
  return Dump(object);
}

std::string EventChunk(const AnswerHead& head, const StreamPart& part) {
  Json object = {{"id", head.id}, {"object", "punt.trace"}, {"index", part.choice}};
  object["event"] = Json::parse(part.event);
  return Dump(object);
}

std::string EndChunk(const AnswerHead& head, int choice, const std::string& finish_reason) {
  Json object = ChunkOf(head, choice, Json::object(), finish_reason);
  AddIgnored(head, object);
  return Dump(object);
}

std::string UsageChunk(const AnswerHead& head, const Completion& completion, double seconds) {
  Json object = Object(head, true);
  object["choices"] = Json::array();
  object["usage"] = UsageJson(completion, seconds);
  return Dump(object);
}

}  // namespace punt
