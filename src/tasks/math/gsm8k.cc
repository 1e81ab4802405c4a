// Task `gsm8k`: grade school mathematics, put as lm-evaluation-harness does.
#include "eval/benchmark.h"
#include "tasks/scorer_rows.h"
#include "tasks/task_rows.h"

namespace punt {
namespace {

constexpr std::string_view kStops[] = {"Question:", "</s>", "<|im_end|>"};

constexpr BenchmarkRow kBenchmark = {.scorer = &kGsm8kScorer,
                                     .before = "Question: ",
                                     .between = "\nAnswer:",
                                     .space = " ",
                                     .stops = kStops,
                                     .shot_question = "question",
                                     .shot_answer = "answer",
                                     .draws_shots = true};

const ParamRow kParams[] = {ShotsParam("4"), ChatParam("false")};

}  // namespace

const TaskRow kGsm8kRow =
    BenchmarkTaskRow<kBenchmark>("gsm8k", "grade school mathematics, four worked examples",
                                 "test.jsonl of openai/grade-school-math; shots: its train.jsonl", kParams);

}  // namespace punt
