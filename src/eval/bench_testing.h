// What the tests of bench reports show.
#pragma once

#include <string>

#include "eval/bench.h"

namespace punt::testing {

inline constexpr TaskRow kBoards = {.name = "boards", .quality = kAccuracy};
inline constexpr TaskRow kTexts = {.name = "texts", .quality = "judge_perplexity", .less_is_better = true};

inline BenchRow Row(const std::string& family, const std::string& planner, double nfe, double accuracy) {
  BenchRow row{.entry = {family, planner}};
  row.summary.items = 10;
  row.summary.nfe = {nfe, Interval{nfe - 1, nfe + 1}};
  row.summary.work = WorkSummary{.calls = 3, .row_passes = 90, .tokens = 36, .tokens_per_forward = {36 / nfe, {}}};
  row.summary.accuracy = Estimate{accuracy, Interval{accuracy - 0.1, accuracy + 0.05}};
  return row;
}

}  // namespace punt::testing
