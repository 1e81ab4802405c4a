// Task `mbpp`: Python programs for a sentence and three asserts, put as lm-evaluation-harness does: tasks 2, 3 and 4
// are the worked examples, 11 to 510 are asked. Programs run in a sandbox.
#include "eval/benchmark.h"
#include "tasks/scorer_rows.h"
#include "tasks/task_rows.h"

namespace punt {
namespace {

constexpr std::string_view kStops[] = {"[DONE]"};

constexpr BenchmarkRow kBenchmark = {.scorer = &kMbppScorer,
                                     .before = "You are an expert Python programmer, and here is your task: ",
                                     .between = "[BEGIN]\n",
                                     .space = "",
                                     .stops = kStops,
                                     .answer_end = "\n[DONE]",
                                     .first_shot = 2,
                                     .first_item = 11,
                                     .last_item = 510};

const ParamRow kParams[] = {ShotsParam("3"), ChatParam("false")};

}  // namespace

const TaskRow kMbppRow =
    BenchmarkTaskRow<kBenchmark>("mbpp", "write Python programs, judged by three asserts each",
                                 "mbpp.jsonl of google-research; shots: another file with worked examples", kParams);

}  // namespace punt
