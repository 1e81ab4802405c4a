// Task `ifeval`: follow instructions that a program can check.
#include "eval/benchmark.h"
#include "tasks/scorer_rows.h"
#include "tasks/task_rows.h"

namespace punt {
namespace {

constexpr BenchmarkRow kBenchmark = {.scorer = &kIfevalScorer,
                                     .before = "",
                                     .between = "",
                                     .space = "",
                                     .stops = {},
                                     .shot_question = "prompt",
                                     .shot_answer = "response",
                                     .usual_length = 512};

const ParamRow kParams[] = {ShotsParam("0"), ChatParam("true")};

}  // namespace

const TaskRow kIfevalRow = BenchmarkTaskRow<kBenchmark>(
    "ifeval", "follow instructions that a program can check",
    "input_data.jsonl of google-research, with the folders punkt_english and langdetect beside it", kParams);

}  // namespace punt
