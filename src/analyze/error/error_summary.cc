// What the runs of a planner sum up to.
//
// The mean over *all* commits is what a sequence pays per token, and planners are compared by it: the first commit of
// a step has no error by definition, so a planner that commits one by one has exactly zero. The distribution is
// that of the commits which had others before them, where the error is not zero by definition.
//
// Tested by: error_study_test.cc (against naive sums, and on models where the answer is known).
#include <algorithm>
#include <cmath>
#include <map>

#include "analyze/error/error_study.h"
#include "base/check.h"
#include "punt/planner.h"
#include "punt/spec.h"
#include "report/quantile.h"

namespace punt {
namespace {

constexpr int kSingle = 8;  // values up to here have their own bin

ErrorFigures FiguresOf(std::span<const ErrorRun* const> runs, double TokenError::*direction) {
  ErrorFigures figures;
  std::vector<double> sums, counts, parallel;
  double total = 0;
  std::int64_t finite_parallel = 0;
  for (const ErrorRun* run : runs) {
    double sum = 0, count = 0;
    for (const TokenError& token : run->tokens) {
      const double error = token.*direction;
      if (token.revealed_before > 0) parallel.push_back(error);
      if (!std::isfinite(error)) {
        ++figures.infinite;
        continue;
      }
      sum += error;
      count += 1;
      finite_parallel += token.revealed_before > 0 ? 1 : 0;
    }
    sums.push_back(sum);
    counts.push_back(count);
    total += sum;
  }
  if (std::any_of(counts.begin(), counts.end(), [](double count) { return count > 0; })) {
    figures.per_token = RatioOf(sums, counts, kNotNegative);
  }
  figures.per_sequence = total / static_cast<double>(runs.size());
  if (finite_parallel > 0) figures.per_parallel_token = total / static_cast<double>(finite_parallel);
  if (parallel.empty()) return figures;
  const std::vector<double> sorted = Sorted(parallel);
  figures.q05 = Quantile(sorted, 0.05);
  figures.median = Quantile(sorted, 0.5);
  figures.q95 = Quantile(sorted, 0.95);
  figures.most = sorted.back();
  return figures;
}

std::vector<RevealedBin> BinsOf(std::span<const ErrorRun* const> runs) {
  struct Members {
    std::vector<double> errors;
    double revealed = 0;
  };
  std::map<int, Members> bins;
  for (const ErrorRun* run : runs) {
    for (const TokenError& token : run->tokens) {
      if (token.revealed_before == 0) continue;
      Members& members = bins[RevealedRangeOf(token.revealed_before).low];
      members.errors.push_back(token.kl_new_base);
      members.revealed += token.revealed_before;
    }
  }
  std::vector<RevealedBin> list;
  for (const auto& [low, members] : bins) {
    const std::vector<double> sorted = Sorted(members.errors);
    list.push_back({.low = low,
                    .high = RevealedRangeOf(low).high,
                    .tokens = std::ssize(sorted),
                    .centre = members.revealed / static_cast<double>(sorted.size()),
                    .q05 = Quantile(sorted, 0.05),
                    .median = Quantile(sorted, 0.5),
                    .q95 = Quantile(sorted, 0.95)});
  }
  return list;
}

/// What bounds every test of a PUNT planner.
std::optional<double> EpsilonOf(const std::string& planner) {
  const Spec spec = ParseSpec(CanonicalPlannerSpec(planner));
  if (spec.name != "punt") return std::nullopt;
  const auto epsilon =
      std::find_if(spec.values.begin(), spec.values.end(), [](const auto& pair) { return pair.first == "epsilon"; });
  Check(epsilon != spec.values.end(), "PUNT without epsilon");
  return std::stod(epsilon->second);
}

ErrorSummary SummaryOf(std::span<const ErrorRun* const> runs) {
  const ErrorRun& first = *runs.front();
  ErrorSummary summary{
      .family = first.family, .planner = first.planner, .score = first.score, .runs = std::ssize(runs)};
  summary.epsilon = EpsilonOf(first.planner);
  std::vector<double> nfe;
  std::int64_t above = 0;
  for (const ErrorRun* run : runs) {
    nfe.push_back(static_cast<double>(run->nfe()));
    summary.steps += run->steps / static_cast<double>(runs.size());
    summary.tokens += std::ssize(run->tokens);
    summary.extra_passes += run->extra_passes;
    for (const TokenError& token : run->tokens) {
      summary.parallel_tokens += token.revealed_before > 0 ? 1 : 0;
      above += summary.epsilon && token.kl_new_base > *summary.epsilon ? 1 : 0;
    }
  }
  summary.nfe = MeanOf(nfe, kNotNegative);
  if (summary.epsilon && summary.parallel_tokens > 0) {
    summary.above_epsilon = static_cast<double>(above) / static_cast<double>(summary.parallel_tokens);
  }
  summary.new_base = FiguresOf(runs, &TokenError::kl_new_base);
  summary.base_new = FiguresOf(runs, &TokenError::kl_base_new);
  summary.by_revealed = BinsOf(runs);
  return summary;
}

}  // namespace

RevealedRange RevealedRangeOf(int revealed_before) {
  if (revealed_before <= kSingle) return {revealed_before, revealed_before};
  int low = kSingle + 1;
  while (true) {
    const int high = low + low / 3;
    if (revealed_before <= high) return {low, high};
    low = high + 1;
  }
}

std::vector<ErrorSummary> SummariseErrors(std::span<const ErrorRun> runs) {
  Check(!runs.empty(), "a summary of no runs");
  std::vector<std::vector<const ErrorRun*>> groups;
  for (const ErrorRun& run : runs) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& members) {
      return members.front()->planner == run.planner && members.front()->score == run.score;
    });
    if (group == groups.end()) {
      groups.push_back({&run});
    } else {
      group->push_back(&run);
    }
  }
  std::vector<ErrorSummary> summaries;
  for (const auto& group : groups) summaries.push_back(SummaryOf(group));
  return summaries;
}

std::optional<double> ErrorAtNfe(std::span<const ErrorSummary> all, std::string_view family, double nfe) {
  std::vector<const ErrorSummary*> curve;
  for (const ErrorSummary& row : all) {
    if (row.family == family) curve.push_back(&row);
  }
  std::sort(curve.begin(), curve.end(),
            [](const ErrorSummary* a, const ErrorSummary* b) { return a->nfe.value < b->nfe.value; });
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const double right = curve[i]->nfe.value;
    if (right < nfe) continue;
    if (right == nfe) return curve[i]->new_base.per_token.value;
    if (i == 0) return std::nullopt;
    const double left = curve[i - 1]->nfe.value;
    const double share = std::log(nfe / left) / std::log(right / left);
    const double from = curve[i - 1]->new_base.per_token.value;
    return from + share * (curve[i]->new_base.per_token.value - from);
  }
  return std::nullopt;
}

}  // namespace punt
