#include "serve/completion_request.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "punt/cache.h"
#include "punt/error.h"
#include "punt/generator.h"
#include "punt/planner.h"
#include "punt/score.h"
#include "serve/api_error.h"
#include "serve/json_body.h"

namespace punt {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostStops = 16;
constexpr std::size_t kMostMessages = 1024;
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

[[noreturn]] void Refuse(const std::string& field, const std::string& what) {
  throw ApiError(400, "invalid_value", fmt::format("{} {}", field, what), field);
}

/// The member, unless it is missing or null.
const Json* Find(const Json& object, const std::string& field) {
  const auto found = object.find(field);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::string> Text(const Json& object, const std::string& field, const std::string& prefix = "") {
  const Json* value = Find(object, field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) Refuse(prefix + field, "must be a string");
  return value->get<std::string>();
}

bool Flag(const Json& object, const std::string& field) {
  const Json* value = Find(object, field);
  if (value == nullptr) return false;
  if (!value->is_boolean()) Refuse(field, "must be true or false");
  return value->get<bool>();
}

std::optional<std::int64_t> Integer(const Json& object, const std::string& field, std::int64_t low, std::int64_t high,
                                    const std::string& prefix = "") {
  const Json* value = Find(object, field);
  if (value == nullptr) return std::nullopt;
  const bool is_large = value->is_number_unsigned() && value->get<std::uint64_t>() > static_cast<std::uint64_t>(high);
  if (!value->is_number_integer() || is_large || value->get<std::int64_t>() < low ||
      value->get<std::int64_t>() > high) {
    Refuse(prefix + field, fmt::format("must be a whole number between {} and {}", low, high));
  }
  return value->get<std::int64_t>();
}

double Real(const Json& object, const std::string& field, double low, double high, double otherwise) {
  const Json* value = Find(object, field);
  if (value == nullptr) return otherwise;
  if (!value->is_number() || !(value->get<double>() >= low) || value->get<double>() > high) {
    Refuse(field, fmt::format("must be a number between {} and {}", low, high));
  }
  return value->get<double>();
}

/// A message's content: a string, or a list of parts of which only texts are understood.
std::string Content(const Json& message, const std::string& field) {
  const Json* content = Find(message, "content");
  if (content == nullptr) Refuse(field + ".content", "is missing");
  if (content->is_string()) return content->get<std::string>();
  if (!content->is_array()) Refuse(field + ".content", "must be a string or a list of parts");
  std::string text;
  for (const Json& part : *content) {
    const bool is_text =
        part.is_object() && part.value("type", Json()) == "text" && part.contains("text") && part["text"].is_string();
    if (!is_text) Refuse(field + ".content", "may only have parts of type text");
    text += part["text"].get<std::string>();
  }
  return text;
}

std::vector<ChatMessage> Messages(const Json& body) {
  const Json* list = Find(body, "messages");
  if (list == nullptr || !list->is_array() || list->empty()) Refuse("messages", "must be a list of messages");
  if (list->size() > kMostMessages) Refuse("messages", fmt::format("has more than {} entries", kMostMessages));
  std::vector<ChatMessage> messages;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const Json& message = (*list)[i];
    const std::string field = fmt::format("messages[{}]", i);
    if (!message.is_object()) Refuse(field, "must be an object");
    const auto role = Text(message, "role", field + ".");
    const bool is_known = role == "system" || role == "user" || role == "assistant" || role == "developer";
    if (!is_known) Refuse(field + ".role", "must be system, developer, user or assistant");
    messages.push_back({.role = *role == "developer" ? "system" : *role, .content = Content(message, field)});
  }
  return messages;
}

std::vector<std::string> Stops(const Json& body) {
  const Json* value = Find(body, "stop");
  if (value == nullptr) return {};
  std::vector<std::string> stops;
  const Json list = value->is_string() ? Json::array({*value}) : *value;
  if (!list.is_array() || list.size() > kMostStops) {
    Refuse("stop", fmt::format("must be a string or a list of at most {}", kMostStops));
  }
  for (const Json& stop : list) {
    if (!stop.is_string() || stop.get<std::string>().empty()) Refuse("stop", "must hold strings that are not empty");
    stops.push_back(stop.get<std::string>());
  }
  return stops;
}

/// Settings that change what a client would get, and that punt does not have.
void RefuseUnsupported(const Json& body) {
  for (const char* field : {"tools", "functions", "logprobs", "top_logprobs", "logit_bias", "best_of", "echo"}) {
    const Json* value = Find(body, field);
    const bool is_off = value == nullptr || *value == false || *value == 0 ||
                        ((value->is_array() || value->is_object()) && value->empty()) ||
                        (std::string_view(field) == "best_of" && *value == 1);
    if (!is_off) Refuse(field, "is not supported");
  }
  const Json* format = Find(body, "response_format");
  if (format != nullptr && (!format->is_object() || format->value("type", Json()) != "text")) {
    Refuse("response_format", "other than text is not supported");
  }
}

void ReadDiffusion(const Json& body, const RequestLimits& limits, CompletionRequest& request) {
  const Json* object = Find(body, "diffusion");
  request.max_nfe = limits.max_nfe;
  if (object == nullptr) return;
  if (!object->is_object()) Refuse("diffusion", "must be an object");
  const std::string prefix = "diffusion.";
  for (const auto& [key, value] : object->items()) {
    const bool is_known = key == "planner" || key == "score" || key == "eos" || key == "cache" || key == "window" ||
                          key == "max_nfe" || key == "top_k" || key == "stream";
    if (!is_known) {
      Refuse(prefix + key, "is not known; valid: planner, score, eos, cache, window, max_nfe, top_k, stream");
    }
  }
  request.planner = Text(*object, "planner", prefix).value_or(request.planner);
  request.score = Text(*object, "score", prefix).value_or("");
  request.eos = Text(*object, "eos", prefix).value_or(request.eos);
  request.cache = Text(*object, "cache", prefix).value_or(request.cache);
  const std::int64_t largest = std::numeric_limits<int>::max();
  request.window = static_cast<int>(Integer(*object, "window", 0, largest, prefix).value_or(0));
  request.proposal.top_k = static_cast<int>(Integer(*object, "top_k", 0, largest, prefix).value_or(0));
  request.max_nfe =
      Integer(*object, "max_nfe", 1, limits.max_nfe > 0 ? limits.max_nfe : kLargest, prefix).value_or(limits.max_nfe);
  const auto stream = Text(*object, "stream", prefix).value_or("settled");
  if (stream != "settled" && stream != "snapshots" && stream != "events") {
    Refuse(prefix + "stream", "must be settled, snapshots or events");
  }
  request.stream_kind = stream == "events"      ? StreamKind::kEvents
                        : stream == "snapshots" ? StreamKind::kSnapshots
                                                : StreamKind::kSettled;
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

}  // namespace

CompletionRequest ParseCompletion(std::string_view text, bool chat, const RequestLimits& limits,
                                  std::string_view default_planner) {
  const Json body = ParseBody(text);
  if (!body.is_object()) throw ApiError(400, "invalid_json", "the body must be a JSON object");
  CompletionRequest request{.chat = chat};
  request.planner = default_planner;
  if (chat) {
    request.messages = Messages(body);
  } else {
    const Json* prompt = Find(body, "prompt");
    const bool is_list = prompt != nullptr && prompt->is_array() && prompt->size() == 1 && (*prompt)[0].is_string();
    if (prompt != nullptr && !prompt->is_string() && !is_list) Refuse("prompt", "must be a string");
    if (prompt != nullptr) request.prompt = (is_list ? (*prompt)[0] : *prompt).get<std::string>();
    request.suffix = Text(body, "suffix");
  }
  RefuseUnsupported(body);
  request.max_tokens = Integer(body, "max_completion_tokens", 1, limits.max_tokens);
  if (!request.max_tokens) request.max_tokens = Integer(body, "max_tokens", 1, limits.max_tokens);
  request.proposal.temperature = Real(body, "temperature", 0, 10, 1);
  request.proposal.top_p = Real(body, "top_p", 0, 1, 1);
  if (request.proposal.top_p == 0) request.proposal.top_p = std::numeric_limits<double>::min();  // the best token alone
  request.stop = Stops(body);
  const auto seed = Integer(body, "seed", std::numeric_limits<std::int64_t>::min(), kLargest);
  if (seed) request.seed = static_cast<std::uint64_t>(*seed);
  request.choices = static_cast<int>(Integer(body, "n", 1, limits.max_choices).value_or(1));
  request.stream = Flag(body, "stream");
  if (const Json* options = Find(body, "stream_options")) {
    if (!options->is_object()) Refuse("stream_options", "must be an object");
    request.include_usage = Flag(*options, "include_usage");
  }
  ReadDiffusion(body, limits, request);
  if (Flag(body, "diffusing")) {
    request.stream = true;
    request.stream_kind = StreamKind::kSnapshots;
  }
  CheckNames(request);
  return request;
}

}  // namespace punt
