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
#include "serve/chat_tools.h"
#include "serve/constraint_fields.h"
#include "serve/json_body.h"
#include "serve/json_fields.h"
#include "serve/prompt_list.h"
#include "serve/request_settings.h"

namespace punt {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostStops = 16;
constexpr std::size_t kMostSpecBytes = 256;
constexpr double kMostExact = 0x1p53;  // a float beyond it may stand for another number

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

/// The number of positions asked for; -1: as many as fit, as in llama.cpp.
std::optional<std::int64_t> MaxTokens(const Json& body, const RequestLimits& limits, bool echo) {
  for (const char* field : {"max_completion_tokens", "max_tokens"}) {
    const Json* value = FindField(body, field);
    if (value == nullptr) continue;
    const std::optional<std::int64_t> count = WholeNumber(*value);
    const bool is_none = echo && count == 0;  // the prompt alone
    if (!count || (*count < 1 && *count != -1 && !is_none)) {
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

/// The name of a planner or the like; errors may repeat it.
std::optional<std::string> SpecField(const Json& object, const std::string& field, const std::string& prefix) {
  auto text = TextField(object, field, prefix);
  if (text && text->size() > kMostSpecBytes) {
    RefuseField(prefix + field, fmt::format("is longer than {} bytes", kMostSpecBytes));
  }
  return text;
}

/// Reads the fields of the table that belong in one object, each by its type.
class SamplingReader {
 public:
  SamplingReader(const Json& object, std::string prefix, const RequestLimits& limits)
      : object_(object), prefix_(std::move(prefix)), limits_(limits) {}

  void Read(const SamplingField& field, Sampling& sampling) const {
    if (field.key == "seed") return;  // of 64 bits, or drawn
    std::visit([&](auto member) { Into(sampling.*member, field); }, field.member);
  }

 private:
  void Into(std::string& value, const SamplingField& field) const {
    value = SpecField(object_, Name(field), prefix_).value_or(value);
  }

  void Into(double& value, const SamplingField& field) const {
    const RealRange range{field.min, field.api_max > 0 ? field.api_max : field.max};
    value = RealField(object_, Name(field), range, prefix_).value_or(value);
    if (field.is_above_min && value == field.min) value += std::numeric_limits<double>::min();  // top_p: the best alone
  }

  void Into(std::int64_t& value, const SamplingField& field) const {
    const bool is_top_k = field.key == "top_k";  // vLLM's clients switch it off by -1, others by 0
    const bool is_limited = field.key == "max_nfe" && limits_.max_nfe > 0;
    const IntegerRange range{.low = is_top_k                 ? -1
                                    : field.key == "max_nfe" ? 1
                                                             : static_cast<std::int64_t>(field.min),
                             .high = is_limited ? limits_.max_nfe : field.whole_max()};
    const auto number = IntegerField(object_, Name(field), range, prefix_);
    if (number) value = std::max<std::int64_t>(*number, 0);
  }

  void Into(std::uint64_t&, const SamplingField&) const {}
  void Into(bool& value, const SamplingField& field) const { value = value || FlagField(object_, Name(field)); }

  void Into(std::vector<std::string>& value, const SamplingField& field) const {
    if (FindField(object_, Name(field)) != nullptr) value = Stops(object_);
  }

  static std::string Name(const SamplingField& field) { return std::string(field.name()); }

  const Json& object_;
  std::string prefix_;
  const RequestLimits& limits_;
};

bool IsIn(const SamplingField& field, ApiPlace place) { return field.place == place || field.place == ApiPlace::kBoth; }

void ReadSampling(const Json& body, const RequestLimits& limits, CompletionRequest& request) {
  const SamplingReader reader(body, "", limits);
  for (const SamplingField& field : SamplingFields()) {
    if (IsIn(field, ApiPlace::kTop)) reader.Read(field, request.sampling);
  }
  request.seed = Seed(body);
}

StreamKind ReadStreamKind(const Json& object, const std::string& prefix) {
  const auto stream = TextField(object, "stream", prefix).value_or("settled");
  if (stream == "settled") return StreamKind::kSettled;
  if (stream == "snapshots") return StreamKind::kSnapshots;
  if (stream == "events") return StreamKind::kEvents;
  RefuseField(prefix + "stream", "must be settled, snapshots or events");
}

/// ["Tom saw ", 3, ". He ran."]: texts, and numbers of positions between them.
std::vector<Stretch> ReadInfill(const Json& body, const Json& object, bool chat) {
  const Json* list = FindField(object, "infill");
  if (list == nullptr) return {};
  const std::string field = "diffusion.infill";
  for (const char* other : {"prompt", "suffix", "max_tokens", "max_completion_tokens"}) {
    if (chat || FindField(body, other) != nullptr) {
      RefuseField(field, fmt::format("and {} exclude each other", chat ? "messages" : other));
    }
  }
  if (!list->is_array()) RefuseField(field, "must be a list of texts and numbers of positions");
  std::vector<Stretch> parts;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const Json& entry = (*list)[i];
    const std::optional<std::int64_t> masks = WholeNumber(entry);
    const bool is_text = entry.is_string() && !entry.get<std::string>().empty();
    if (!is_text && (!masks || *masks < 1)) {
      RefuseField(fmt::format("{}[{}]", field, i), "must be a text that is not empty, or a number of positions from 1");
    }
    parts.push_back(is_text ? Stretch{.text = entry.get<std::string>()} : Stretch{.masks = *masks});
  }
  const bool has_hole = std::any_of(parts.begin(), parts.end(), [](const Stretch& part) { return part.masks > 0; });
  if (!has_hole) RefuseField(field, "has no positions to fill; they are numbers between the texts");
  return parts;
}

void RequireKnownDiffusion(const Json& object, const std::string& prefix) {
  std::string names;
  for (const SamplingField& field : SamplingFields()) {
    if (IsIn(field, ApiPlace::kDiffusion)) names += std::string(field.name()) + ", ";
  }
  names += "stream, infill, score_alone";
  for (const auto& [key, value] : object.items()) {
    const std::string wrapped = ", " + names + ",";
    if (wrapped.find(" " + key + ",") == std::string::npos) {
      RefuseField(prefix + Shown(key), "is not known; valid: " + names);
    }
  }
}

void ReadDiffusion(const Json& body, const RequestLimits& limits, CompletionRequest& request) {
  const Json* object = FindField(body, "diffusion");
  request.sampling.max_nfe = limits.max_nfe;
  if (object == nullptr) return;
  if (!object->is_object()) RefuseField("diffusion", "must be an object");
  const std::string prefix = "diffusion.";
  RequireKnownDiffusion(*object, prefix);
  request.infill = ReadInfill(body, *object, request.chat);
  const SamplingReader reader(*object, prefix, limits);
  for (const SamplingField& field : SamplingFields()) {
    if (!IsIn(field, ApiPlace::kDiffusion)) continue;
    const Sampling before = request.sampling;
    reader.Read(field, request.sampling);
    const std::string name(field.name());
    const bool is_twice = FindField(body, name) != nullptr && FindField(*object, name) != nullptr;
    if (is_twice && field.place == ApiPlace::kBoth && TextOf(before, field) != TextOf(request.sampling, field)) {
      RefuseField(prefix + name, "differs from " + name);
    }
  }
  request.stream_kind = ReadStreamKind(*object, prefix);
}

/// The registries' errors about names, with the field.
void CheckNames(const CompletionRequest& request) {
  const auto check = [](const char* field, const auto& parse) {
    try {
      parse();
    } catch (const Error& error) {
      throw ApiError(400, "invalid_value", fmt::format("{}: {}", field, error.what()), field);
    }
  };
  const Sampling& sampling = request.sampling;
  check("diffusion.planner", [&] { MakePlanner(sampling.planner); });
  check("diffusion.convention", [&] { ParseConvention(sampling.convention); });
  check("diffusion.score_on", [&] { ParseScoreOn(sampling.score_on); });
  check("diffusion.eos", [&] { ParseEosPolicy(sampling.eos); });
  check("diffusion.cache", [&] {
    if (!sampling.cache.empty()) ParseCachePolicy(sampling.cache);
  });
  if (!sampling.score.empty()) check("diffusion.score", [&] { MakeScore(sampling.score); });
}

void ReadChoices(const Json& body, const RequestLimits& limits, CompletionRequest& request) {
  request.choices = static_cast<int>(IntegerField(body, "n", {1, limits.max_choices}).value_or(1));
  const auto prompts = static_cast<std::int64_t>(request.prompts.size());
  if (prompts * request.choices > limits.max_sequences) {
    RefuseField(prompts > 1 ? "prompt" : "n",
                fmt::format("asks for {} texts; {} are the limit", prompts * request.choices, limits.max_sequences));
  }
}

/// chat_template_kwargs, as vLLM and llama.cpp take them: of the template's variables this one alone.
std::optional<bool> ReadThinking(const Json& body) {
  const Json* variables = FindField(body, "chat_template_kwargs");
  if (variables == nullptr) return std::nullopt;
  if (!variables->is_object()) RefuseField("chat_template_kwargs", "must be an object");
  for (const auto& [name, value] : variables->items()) {
    if (name != "enable_thinking")
      RefuseField("chat_template_kwargs." + Shown(name), "is not known; valid: enable_thinking");
  }
  if (FindField(*variables, "enable_thinking") == nullptr) return std::nullopt;
  return FlagField(*variables, "enable_thinking");
}

}  // namespace

CompletionRequest ParseCompletion(std::string_view text, bool chat, const RequestLimits& limits,
                                  const Sampling& usual) {
  const Json body = ParseBody(text);
  if (!body.is_object()) throw ApiError(400, "invalid_json", "the body must be a JSON object");
  CompletionRequest request{.chat = chat, .sampling = usual};
  request.ignored = CheckSettings(body, chat);
  if (chat) {
    request.messages = ReadMessages(body);
    request.thinking = ReadThinking(body);
    request.tools = ReadTools(text, body);
  } else {
    request.prompts = ReadPrompts(body, limits);
    request.suffix = TextField(body, "suffix");
  }
  request.likelihood = ReadLogprobs(body, chat, limits.score_alone);
  request.max_tokens = MaxTokens(body, limits, request.likelihood.echo);
  request.token_limit = limits.max_tokens;
  ReadSampling(body, limits, request);
  request.constraint_field = ReadConstraint(text, body, request.sampling);
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
