// How MATH and MATH-500 are put to a model: as lm-evaluation-harness puts Minerva's prompt. The same problems under two
// names; 500 of them are a benchmark of their own.
#pragma once

#include "eval/benchmark.h"
#include "tasks/scorer_rows.h"

namespace punt {

inline constexpr std::string_view kMathStops[] = {"Problem:"};

inline constexpr BenchmarkRow kMathBenchmark = {.scorer = &kMathScorer,
                                                .before = "Problem:\n",
                                                .between = "\n\nSolution:",
                                                .space = " ",
                                                .stops = kMathStops,
                                                .shot_question = "problem",
                                                .shot_answer = "solution",
                                                .usual_length = 512};

}  // namespace punt
