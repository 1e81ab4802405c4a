#include "serve/logprob_fields.h"

#include <fmt/format.h>

#include "serve/json_fields.h"

namespace punt {
namespace {

using Json = nlohmann::json;

/// OpenAI's chats say whether, and how many besides; its completions only how many.
std::optional<int> OfChat(const Json& body) {
  const bool wanted = FlagField(body, "logprobs");
  const auto top = IntegerField(body, "top_logprobs", {0, kMostLogprobs});
  if (!wanted && top.value_or(0) > 0) RefuseField("top_logprobs", "needs logprobs: true");
  return wanted ? std::optional(static_cast<int>(top.value_or(0))) : std::nullopt;
}

std::optional<int> OfText(const Json& body) {
  if (const auto top = IntegerField(body, "top_logprobs", {0, kMostLogprobs}); top.value_or(0) > 0) {
    RefuseField("top_logprobs", "belongs to /v1/chat/completions; here the number is that of logprobs");
  }
  const Json* value = FindField(body, "logprobs");
  if (value == nullptr || *value == false) return std::nullopt;
  const auto top = WholeNumber(*value);
  if (!top || *top < 0 || *top > kMostLogprobs) {
    RefuseField("logprobs", fmt::format("must be a whole number from 0 to {}", kMostLogprobs));
  }
  return static_cast<int>(*top);
}

}  // namespace

LogprobFields ReadLogprobs(const Json& body, bool chat, std::int64_t usual_alone) {
  LogprobFields fields{.logprobs = chat ? OfChat(body) : OfText(body), .score_alone = usual_alone};
  fields.echo = FlagField(body, "echo");
  const Json* diffusion = FindField(body, "diffusion");
  const bool has_diffusion = diffusion != nullptr && diffusion->is_object();
  if (has_diffusion) {
    fields.score_alone = IntegerField(*diffusion, "score_alone", {.low = 0}, "diffusion.").value_or(fields.score_alone);
  }
  if (!fields.echo) return fields;
  if (chat) RefuseField("echo", "belongs to /v1/completions");
  if (FlagField(body, "stream") || FlagField(body, "diffusing")) RefuseField("echo", "and stream exclude each other");
  if (FindField(body, "suffix") != nullptr) RefuseField("echo", "and suffix exclude each other");
  if (has_diffusion && FindField(*diffusion, "infill") != nullptr) {
    RefuseField("echo", "and diffusion.infill exclude each other");
  }
  return fields;
}

}  // namespace punt
