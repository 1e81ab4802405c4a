#include "tasks/scorers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "base/suggest.h"
#include "tasks/mt_bench/mt_bench.h"
#include "tasks/scorer_rows.h"

namespace punt {

std::span<const ScorerRow> Scorers() {
  static const ScorerRow kRows[] = {kGsm8kScorer,     kMathScorer, kCountdownScorer, kSudokuScorer,
                                    kHumanEvalScorer, kMbppScorer, kIfevalScorer};
  return kRows;
}

const ScorerRow& FindScorer(std::string_view name) {
  std::vector<std::string_view> names;
  for (const ScorerRow& row : Scorers()) {
    if (name == row.name || (!row.alias.empty() && name == row.alias)) return row;
    names.push_back(row.name);
    if (!row.alias.empty()) names.push_back(row.alias);
  }
  names.push_back(kMtBench);
  BadInput("nothing scores '{}'{}; valid tasks: {}", name, DidYouMean(name, names), fmt::join(names, ", "));
}

}  // namespace punt
