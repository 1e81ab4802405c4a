#include "app/generate_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

namespace punt {

std::string ResultText(const GenerateResult& result, const Model& model) {
  const Token mask = model.denoiser->info().mask_token;
  std::string text;
  // Runs of tokens between masks are decoded together: pieces may depend on their neighbours.
  for (std::size_t begin = 0; begin < result.tokens.size();) {
    if (result.tokens[begin] == mask) {
      text += '_';
      ++begin;
      continue;
    }
    const auto first = result.tokens.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = std::find(first, result.tokens.end(), mask);
    text += model.tokenizer->Decode(std::span(first, last));
    begin = static_cast<std::size_t>(last - result.tokens.begin());
  }
  return text;
}

std::string ResultJson(const GenerateResult& result, const ReportContext& context) {
  using Json = nlohmann::ordered_json;
  const Counters& counters = result.counters;
  const Json object = {
      {"text", ResultText(result, *context.model)},
      {"tokens", result.tokens},
      {"prompt_tokens", context.prompt_tokens},
      {"steps", result.steps},
      {"nfe", {{"base", counters.base_passes}, {"test", counters.test_passes}, {"total", counters.nfe()}}},
      {"row_passes", counters.row_passes},
      {"tokens_per_forward", result.tokens_per_forward()},
      {"seconds", result.seconds},
      {"planner", context.planner},
      {"seed", context.seed},
      {"stop", Name(result.stop)}};
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string IncompleteNote(const GenerateResult& result, const Model& model) {
  const auto masks = std::count(result.tokens.begin(), result.tokens.end(), model.denoiser->info().mask_token);
  if (masks == 0) return "";
  return fmt::format("stopped ({}) after {} steps with {} positions still masked", Name(result.stop), result.steps,
                     masks);
}

}  // namespace punt
