#include "serve/model_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "punt/cache.h"
#include "punt/score.h"
#include "serve/api_error.h"
#include "serve/json_fields.h"
#include "serve/registry_json.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

/// The length has two names: vLLM's and OpenRouter's.
Json Card(const ServedModel& served) {
  const int length = served.model.denoiser->info().max_length;
  return {{"id", served.model.name}, {"object", "model"},       {"created", served.created},
          {"owned_by", "punt"},      {"max_model_len", length}, {"context_length", length}};
}

}  // namespace

std::string PublicName(std::string_view name) {
  constexpr std::string_view kGguf = ".gguf";
  if (name.starts_with("toy:")) return std::string(name);
  while (name.size() > 1 && name.ends_with('/')) name.remove_suffix(1);
  const std::size_t slash = name.rfind('/');
  if (slash != std::string_view::npos && slash + 1 < name.size()) name.remove_prefix(slash + 1);
  if (name.size() > kGguf.size() && name.ends_with(kGguf)) name.remove_suffix(kGguf.size());
  return std::string(name);
}

std::string ModelsJson(const ServedModel& served) {
  return Dump({{"object", "list"}, {"data", Json::array({Card(served)})}});
}

std::string ModelJson(const ServedModel& served, std::string_view id) {
  if (id != served.model.name) {
    throw ApiError(404, "model_not_found", fmt::format("there is no model '{}'", Shown(id)), "model");
  }
  return Dump(Card(served));
}

std::string PropsJson(const ServedModel& served, const ServerOptions& options) {
  const DenoiserInfo& info = served.model.denoiser->info();
  return Dump({{"version", PUNT_VERSION},
               {"model",
                {{"name", served.model.name},
                 {"max_length", info.max_length},
                 {"mask_token", info.mask_token},
                 {"vocab_size", info.vocab_size},
                 {"has_chat_template", served.model.has_chat_template}}},
               {"chat_template", Name(served.chat_form)},
               {"planners", PlannersJson()},
               {"scores", RowsJson(Scores())},
               {"caches", RowsJson(CacheRows())},
               {"defaults",
                {{"planner", options.sampling.planner},
                 {"score", options.sampling.score.empty() ? info.default_score : options.sampling.score},
                 {"cache", Name(CachePolicyFor(options.sampling.cache, info))},
                 {"max_tokens", std::min<std::int64_t>(128, options.limits.max_tokens)},
                 {"temperature", options.sampling.temperature},
                 {"top_p", options.sampling.top_p},
                 {"stop", options.sampling.stop}}},
               {"limits",
                {{"max_tokens", options.limits.max_tokens},
                 {"max_n", options.limits.max_choices},
                 {"max_prompts", options.limits.max_prompts},
                 {"max_body_bytes", options.max_body_bytes},
                 {"max_seconds", options.max_seconds.count()}}}});
}

}  // namespace punt
