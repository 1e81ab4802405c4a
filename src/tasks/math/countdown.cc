// Task `countdown`: an expression of given numbers that reaches a target. The wording is punt's own.
#include "eval/benchmark.h"
#include "tasks/scorer_rows.h"
#include "tasks/task_rows.h"

namespace punt {
namespace {

constexpr BenchmarkRow kBenchmark = {
    .scorer = &kCountdownScorer,
    .before = "Use every number exactly once, with + - * / and parentheses, to reach the target.\n",
    .between = "\nWrite the expression between <answer> and </answer>.\n",
    .space = "",
    .stops = {},
    .shot_question = "question",
    .shot_answer = "answer"};

const ParamRow kParams[] = {ShotsParam("0"), ChatParam("true")};

}  // namespace

const TaskRow kCountdownRow =
    BenchmarkTaskRow<kBenchmark>("countdown", "reach a number with given numbers, each used once",
                                 "JSON lines as countdown_cd3_test.jsonl of dllm-reasoning/d1", kParams);

}  // namespace punt
