#include "serve/completion_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "punt/cache.h"
#include "punt/error.h"
#include "punt/generator.h"
#include "punt/planner.h"
#include "punt/score.h"
#include "serve/api_error.h"
#include "serve/chat_messages.h"
#include "serve/json_body.h"
#include "serve/json_fields.h"
#include "serve/prompt_list.h"
#include "serve/request_settings.h"

namespace punt {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostStops = 16;
constexpr std::size_t kMostSpecBytes = 256;
constexpr std::int64_t kMostInt = std::numeric_limits<int>::max();
constexpr double kMostExact = 0x1p53;  // a float beyond it may have been another number

std::vector<std::string> Stops(const Json& body) {
  const Json* value = FindField(body, "stop");
  if (value == nullptr) return {};
  std::vector<std::string> stops;
  const Json list = value->is_string() ? Json::array({*value}) : *value;
  if (!list.is_array() || list.size() > kMostStops) {
    RefuseField("stop", fmt::format("must be a string or a list of at most {}", kMostStops));
  }
  for (const Json& stop : list) {
    if (!stop.is_string() || stop.get<std::string>().empty()) {
      RefuseField("stop", "must hold strings that are not empty");
    }
    stops.push_back(stop.get<std::string>());
  }
  return stops;
}

/// As many positions as are asked for; -1: as many as fit, as llama.cpp has it.
std::optional<std::int64_t> MaxTokens(const Json& body, const RequestLimits& limits) {
  for (const char* field : {"max_completion_tokens", "max_tokens"}) {
    const Json* value = FindField(body, field);
    if (value == nullptr) continue;
    const std::optional<std::int64_t> count = WholeNumber(*value);
    if (!count || (*count < 1 && *count != -1)) {
      RefuseField(field, "must be a whole number that is at least 1, or -1 for as much as fits");
    }
    return *count == -1 ? limits.max_tokens : std::min(*count, limits.max_tokens);
  }
  return std::nullopt;
}

std::optional<RequestSeed> Seed(const Json& body) {
  const Json* value = FindField(body, "seed");
  if (value == nullptr) return std::nullopt;
  if (value->is_number_unsigned()) return RequestSeed{.bits = value->get<std::uint64_t>()};
  const std::optional<std::int64_t> number = WholeNumber(*value);
  const bool is_exact = !value->is_number_float() || std::abs(value->get<double>()) <= kMostExact;
  if (!number || !is_exact) RefuseField("seed", "must be a whole number from -2^63 to 2^64-1");
  return RequestSeed{.bits = static_cast<std::uint64_t>(*number), .is_negative = *number < 0};
}

/// vLLM's clients switch it off by -1, others by 0.
std::optional<int> TopK(const Json& object, const std::string& prefix) {
  const auto count = IntegerField(object, "top_k", {-1, kMostInt}, prefix);
  if (!count) return std::nullopt;
  return static_cast<int>(std::max<std::int64_t>(*count, 0));
}

void ReadSampling(const Json& body, CompletionRequest& request) {
  request.proposal.temperature = RealField(body, "temperature", {0, 10}).value_or(1);
  request.proposal.top_p = RealField(body, "top_p", {0, 1}).value_or(1);
  if (request.proposal.top_p == 0) request.proposal.top_p = std::numeric_limits<double>::min();  // the best token alone
  request.proposal.top_k = TopK(body, "").value_or(0);
  request.stop = Stops(body);
  request.seed = Seed(body);
}

/// The name of a planner or the like; errors may repeat it.
std::optional<std::string> SpecField(const Json& object, const std::string& field, const std::string& prefix) {
  auto text = TextField(object, field, prefix);
  if (text && text->size() > kMostSpecBytes) {
    RefuseField(prefix + field, fmt::format("is longer than {} bytes", kMostSpecBytes));
  }
  return text;
}

StreamKind ReadStreamKind(const Json& object, const std::string& prefix) {
  const auto stream = TextField(object, "stream", prefix).value_or("settled");
  if (stream == "settled") return StreamKind::kSettled;
  if (stream == "snapshots") return StreamKind::kSnapshots;
  if (stream == "events") return StreamKind::kEvents;
  RefuseField(prefix + "stream", "must be settled, snapshots or events");
}

/// ["Tom saw ", 3, ". He ran."]: texts, and numbers of positions between them.
std::vector<CanvasPart> ReadInfill(const Json& body, const Json& object, bool chat) {
  const Json* list = FindField(object, "infill");
  if (list == nullptr) return {};
  const std::string field = "diffusion.infill";
  for (const char* other : {"prompt", "suffix", "max_tokens", "max_completion_tokens"}) {
    if (chat || FindField(body, other) != nullptr) {
      RefuseField(field, fmt::format("and {} exclude each other", chat ? "messages" : other));
    }
  }
  if (!list->is_array()) RefuseField(field, "must be a list of texts and numbers of positions");
  std::vector<CanvasPart> parts;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const Json& entry = (*list)[i];
    const std::optional<std::int64_t> masks = WholeNumber(entry);
    const bool is_text = entry.is_string() && !entry.get<std::string>().empty();
    if (!is_text && (!masks || *masks < 1)) {
      RefuseField(fmt::format("{}[{}]", field, i), "must be a text that is not empty, or a number of positions from 1");
    }
    parts.push_back(is_text ? CanvasPart{.text = entry.get<std::string>()} : CanvasPart{.masks = *masks});
  }
  const bool has_hole = std::any_of(parts.begin(), parts.end(), [](const CanvasPart& part) { return part.masks > 0; });
  if (!has_hole) RefuseField(field, "has no positions to fill; they are numbers between the texts");
  return parts;
}

void ReadDiffusion(const Json& body, const RequestLimits& limits, CompletionRequest& request) {
  const Json* object = FindField(body, "diffusion");
  request.max_nfe = limits.max_nfe;
  if (object == nullptr) return;
  if (!object->is_object()) RefuseField("diffusion", "must be an object");
  const std::string prefix = "diffusion.";
  for (const auto& [key, value] : object->items()) {
    const bool is_known = key == "planner" || key == "score" || key == "eos" || key == "cache" || key == "window" ||
                          key == "max_nfe" || key == "top_k" || key == "stream" || key == "infill";
    if (!is_known) {
      RefuseField(prefix + Shown(key),
                  "is not known; valid: planner, score, eos, cache, window, max_nfe, top_k, stream, infill");
    }
  }
  request.infill = ReadInfill(body, *object, request.chat);
  request.planner = SpecField(*object, "planner", prefix).value_or(request.planner);
  request.score = SpecField(*object, "score", prefix).value_or("");
  request.eos = SpecField(*object, "eos", prefix).value_or(request.eos);
  request.cache = SpecField(*object, "cache", prefix).value_or(request.cache);
  request.window = static_cast<int>(IntegerField(*object, "window", {0, kMostInt}, prefix).value_or(0));
  if (const auto top_k = TopK(*object, prefix)) {
    const bool differs = FindField(body, "top_k") != nullptr && request.proposal.top_k != *top_k;
    if (differs) RefuseField(prefix + "top_k", "differs from top_k");
    request.proposal.top_k = *top_k;
  }
  const IntegerRange passes{1, limits.max_nfe > 0 ? limits.max_nfe : IntegerRange{}.high};
  request.max_nfe = IntegerField(*object, "max_nfe", passes, prefix).value_or(limits.max_nfe);
  request.stream_kind = ReadStreamKind(*object, prefix);
}

/// What the registries say of the names, told with the field.
void CheckNames(const CompletionRequest& request) {
  const auto check = [](const char* field, const auto& parse) {
    try {
      parse();
    } catch (const Error& error) {
      throw ApiError(400, "invalid_value", fmt::format("{}: {}", field, error.what()), field);
    }
  };
  check("diffusion.planner", [&] { MakePlanner(request.planner); });
  check("diffusion.eos", [&] { ParseEosPolicy(request.eos); });
  check("diffusion.cache", [&] { ParseCachePolicy(request.cache); });
  if (!request.score.empty()) check("diffusion.score", [&] { MakeScore(request.score); });
}

void ReadChoices(const Json& body, const RequestLimits& limits, CompletionRequest& request) {
  request.choices = static_cast<int>(IntegerField(body, "n", {1, limits.max_choices}).value_or(1));
  const auto prompts = static_cast<std::int64_t>(request.prompts.size());
  if (prompts * request.choices > limits.max_sequences) {
    RefuseField(prompts > 1 ? "prompt" : "n",
                fmt::format("asks for {} texts; {} are the limit", prompts * request.choices, limits.max_sequences));
  }
}

}  // namespace

CompletionRequest ParseCompletion(std::string_view text, bool chat, const RequestLimits& limits,
                                  std::string_view default_planner) {
  const Json body = ParseBody(text);
  if (!body.is_object()) throw ApiError(400, "invalid_json", "the body must be a JSON object");
  CompletionRequest request{.chat = chat};
  request.planner = default_planner;
  request.ignored = CheckSettings(body, chat);
  if (chat) {
    request.messages = ReadMessages(body);
  } else {
    request.prompts = ReadPrompts(body, limits);
    request.suffix = TextField(body, "suffix");
  }
  request.max_tokens = MaxTokens(body, limits);
  request.token_limit = limits.max_tokens;
  ReadSampling(body, request);
  ReadChoices(body, limits, request);
  request.stream = FlagField(body, "stream");
  if (const Json* options = FindField(body, "stream_options")) {
    if (!options->is_object()) RefuseField("stream_options", "must be an object");
    request.include_usage = FlagField(*options, "include_usage");
  }
  ReadDiffusion(body, limits, request);
  if (FlagField(body, "diffusing")) {
    request.stream = true;
    request.stream_kind = StreamKind::kSnapshots;
  }
  CheckNames(request);
  return request;
}

}  // namespace punt
