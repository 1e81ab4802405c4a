// Task `gsm8k`: grade school mathematics, put as lm-evaluation-harness does.
#include "eval/benchmark.h"
#include "eval/task_rows.h"

namespace punt {
namespace {

constexpr std::string_view kStops[] = {"Question:", "</s>", "<|im_end|>"};

constexpr BenchmarkRow kBenchmark = {.scorer = "gsm8k",
                                     .before = "Question: ",
                                     .between = "\nAnswer:",
                                     .space = " ",
                                     .stops = kStops,
                                     .shot_question = "question",
                                     .shot_answer = "answer",
                                     .draws_shots = true};

const ParamRow kParams[] = {ShotsParam("4"), ChatParam("false")};

}  // namespace

const TaskRow kGsm8kRow = {
    .name = "gsm8k",
    .summary = "grade school mathematics, four worked examples",
    .data_help = "test.jsonl of openai/grade-school-math; --shots: its train.jsonl",
    .params = kParams,
    .takes_data = true,
    .takes_shots = true,
    .quality = kAccuracy,
    .make = [](const Params& params, const TaskSetup& setup) { return MakeBenchmark(kBenchmark, params, setup); }};

}  // namespace punt
