// Task `humaneval`: Python functions to complete. The prompt is the head of the function; programs run in a sandbox.
#include "eval/benchmark.h"
#include "tasks/scorer_rows.h"
#include "tasks/task_rows.h"

namespace punt {
namespace {

constexpr BenchmarkRow kBenchmark = {.scorer = &kHumanEvalScorer,
                                     .before = "",
                                     .between = "",
                                     .space = "",
                                     .stops = {},
                                     .shot_question = "prompt",
                                     .shot_answer = "canonical_solution",
                                     .usual_length = 512};

const ParamRow kParams[] = {ShotsParam("0"), ChatParam("false")};

}  // namespace

const TaskRow kHumanEvalRow =
    BenchmarkTaskRow<kBenchmark>("humaneval", "complete Python functions, judged by their checks",
                                 "HumanEval.jsonl.gz of openai/human-eval", kParams);

}  // namespace punt
