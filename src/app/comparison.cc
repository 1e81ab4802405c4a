#include "app/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analyze/parallel_error.h"
#include "base/check.h"
#include "base/json_text.h"
#include "base/trim.h"
#include "eval/run.h"
#include "punt/generator.h"
#include "writer/stop_strings.h"

namespace punt {
std::vector<std::string> DefaultPlanners() {
  return {"left-to-right",         "punt:epsilon=0.01", "punt:epsilon=0.04",    "punt:epsilon=0.16",   "top-k:k=4",
          "entropy-bound:gamma=1", "threshold:tau=0.9", "dilated:log_window=3", "dilated:log_window=4"};
}

std::vector<std::string> ParsePlannerList(std::string_view text) {
  std::vector<std::string> planners;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i < text.size() && (text[i] != ';' || depth > 0)) continue;
    planners.emplace_back(Trim(text.substr(begin, i - begin)));
    begin = i + 1;
    if (planners.back().empty()) BadInput("an empty planner in '{}'", text);
    MakePlanner(planners.back());
  }
  return planners;
}

ComparisonRow Compare(const Model& model, const std::string& planner, const ComparisonOptions& options,
                      const std::atomic<bool>* cancel) {
  const DenoiserInfo& info = model.denoiser->info();
  Sampling sampling = options.sampling;
  sampling.planner = planner;
  SessionOptions session_options = SessionFor(sampling, info);
  session_options.threads = options.threads;
  const std::unique_ptr<DenoiserSession> session = model.denoiser->NewSession(session_options);
  Recipe recipe = MakeRecipe(sampling, info);
  const std::vector<Token> masks(static_cast<std::size_t>(info.max_length), info.mask_token);
  const Canvas canvas(masks, info.mask_token, info.vocab_size);
  EndAtStops(recipe, model, PlaceOfMasks(masks, info.mask_token), sampling.stop);

  ComparisonRow row{.planner = planner};
  double committed = 0;
  for (std::int64_t i = 0; i < options.samples; ++i) {
    recipe.sample = static_cast<std::uint64_t>(i);
    CommitCollector collector;
    const GenerateResult result = Generate(*session, canvas, recipe, {.observer = &collector, .cancel = cancel});
    if (result.stop == StopReason::kCancelled) break;
    const auto error = MeasureParallelError(*model.denoiser, collector.steps(), session_options);
    ++row.samples;
    row.unfinished += IsUnfinished(Name(result.stop)) ? 1 : 0;
    row.nfe += static_cast<double>(result.counters.nfe());
    row.calls += static_cast<double>(result.counters.calls);
    row.steps += result.steps;
    row.error_nats += error.total_new_base;
    row.seconds += result.seconds;
    committed += result.committed;
  }
  if (row.samples == 0) return row;
  row.tokens_per_forward = row.nfe > 0 ? committed / row.nfe : 0;
  for (double* sum : {&row.nfe, &row.calls, &row.steps, &row.error_nats, &row.seconds}) {
    *sum /= static_cast<double>(row.samples);
  }
  return row;
}

TextTable ComparisonTable(std::span<const std::string> planners, int columns) {
  return TextTable("planner", planners, {{"NFE", 7}, {"calls", 7}, {"steps", 7}, {"tokens/NFE", 11}, {"error", 9}},
                   columns);
}

std::string ComparisonLine(const TextTable& table, const ComparisonRow& row) {
  const auto one = [](double value) { return fmt::format("{:.1f}", value); };
  return table.Row(row.planner, {one(row.nfe), one(row.calls), one(row.steps),
                                 fmt::format("{:.2f}", row.tokens_per_forward), fmt::format("{:.3f}", row.error_nats)});
}

std::string ToJson(const ComparisonRow& row) {
  using Json = nlohmann::ordered_json;
  const Json object = {{"planner", row.planner},
                       {"samples", row.samples},
                       {"unfinished", row.unfinished},
                       {"nfe", row.nfe},
                       {"calls", row.calls},
                       {"steps", row.steps},
                       {"tokens_per_forward", row.tokens_per_forward},
                       {"error_nats", row.error_nats},
                       {"seconds", row.seconds}};
  return Dump(object);
}

}  // namespace punt
