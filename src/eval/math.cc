// Task `math`: competition mathematics, put as lm-evaluation-harness puts Minerva's prompt.
#include "eval/benchmark.h"
#include "eval/task_rows.h"

namespace punt {
namespace {

constexpr std::string_view kStops[] = {"Problem:"};

constexpr BenchmarkRow kBenchmark = {.scorer = "math",
                                     .before = "Problem:\n",
                                     .between = "\n\nSolution:",
                                     .space = " ",
                                     .stops = kStops,
                                     .shot_question = "problem",
                                     .shot_answer = "solution",
                                     .usual_length = 512};

const ParamRow kParams[] = {ShotsParam("4"), ChatParam("false")};

}  // namespace

const TaskRow kMathRow = BenchmarkTaskRow<kBenchmark>(
    "math", "competition mathematics, four worked examples",
    "test files of hendrycks/math, or MATH-500; --shots: JSON lines with problem and solution, the first ones are "
    "used",
    kParams);

}  // namespace punt
