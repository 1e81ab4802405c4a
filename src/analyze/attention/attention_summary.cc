#include <algorithm>
#include <cmath>

#include "analyze/attention/attention_study.h"
#include "analyze/order/order_study.h"
#include "base/check.h"
#include "report/quantile.h"

namespace punt {
namespace {

template <typename Value>
Spread SpreadOf(std::span<const AttendedToken* const> tokens, const Value& value) {
  if (tokens.empty()) return {};
  std::vector<double> values;
  for (const AttendedToken* token : tokens) values.push_back(value(*token));
  const std::vector<double> sorted = Sorted(values);
  return {Quantile(sorted, 0.05), Quantile(sorted, 0.5), Quantile(sorted, 0.95)};
}

template <typename Value>
std::optional<double> CorrelationOf(std::span<const AttendedToken* const> tokens, const Value& value) {
  std::vector<double> errors, values;
  for (const AttendedToken* token : tokens) {
    errors.push_back(token->error.kl_new_base);
    values.push_back(value(*token));
  }
  return RankCorrelation(errors, values);
}

AttentionSummary SummaryOf(std::span<const AttentionRun* const> runs) {
  AttentionSummary summary{.planner = runs.front()->planner, .runs = std::ssize(runs)};
  std::vector<const AttendedToken*> tokens;
  for (const AttentionRun* run : runs) {
    summary.nfe += static_cast<double>(run->nfe) / static_cast<double>(runs.size());
    for (const AttendedToken& token : run->tokens) tokens.push_back(&token);
  }
  summary.tokens = std::ssize(tokens);
  if (tokens.empty()) return summary;
  const std::size_t heads = tokens.front()->delta_a.size(), layers = tokens.front()->layers.size();
  for (const AttendedToken* token : tokens) {
    if (token->delta_a.size() != heads || token->layers.size() != layers) {
      BadInput("records of '{}' are of different networks", summary.planner);
    }
    if (std::isfinite(token->error.kl_new_base)) {
      summary.pairs.emplace_back(token->mean_delta_a(), token->error.kl_new_base);
    }
  }
  const auto mean = [](const AttendedToken& token) { return token.mean_delta_a(); };
  summary.error = SpreadOf(tokens, [](const AttendedToken& token) { return token.error.kl_new_base; });
  summary.delta_a = SpreadOf(tokens, mean);
  summary.delta_a_masked = SpreadOf(tokens, [](const AttendedToken& token) { return token.delta_a_masked; });
  summary.correlation = CorrelationOf(tokens, mean);
  for (std::size_t head = 0; head < heads; ++head) {
    const auto one = [head](const AttendedToken& token) { return token.delta_a[head]; };
    summary.head_correlation.push_back(CorrelationOf(tokens, one));
    summary.head_median.push_back(SpreadOf(tokens, one).middle);
  }
  for (std::size_t layer = 0; layer < layers; ++layer) {
    auto& spreads = summary.layers.emplace_back();
    for (std::size_t kind = 0; kind < spreads.size(); ++kind) {
      spreads[kind] = SpreadOf(tokens, [&](const AttendedToken& token) { return token.layers[layer][kind]; });
    }
  }
  return summary;
}

}  // namespace

std::vector<AttentionSummary> SummariseAttention(std::span<const AttentionRun> runs) {
  Check(!runs.empty(), "a summary of no runs");
  std::vector<std::vector<const AttentionRun*>> groups;
  for (const AttentionRun& run : runs) {
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&](const auto& members) { return members.front()->planner == run.planner; });
    if (group == groups.end()) {
      groups.push_back({&run});
    } else {
      group->push_back(&run);
    }
  }
  std::vector<AttentionSummary> summaries;
  for (const auto& group : groups) summaries.push_back(SummaryOf(group));
  return summaries;
}

}  // namespace punt
