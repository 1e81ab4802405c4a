// Task `math`: competition mathematics (math_benchmark.h).
#include "tasks/math/math_benchmark.h"
#include "tasks/task_rows.h"

namespace punt {
namespace {

const ParamRow kParams[] = {ShotsParam("4"), ChatParam("false")};

}  // namespace

const TaskRow kMathRow = BenchmarkTaskRow<kMathBenchmark>(
    "math", "competition mathematics, four worked examples",
    "test files of hendrycks/math; shots: JSON lines with problem and solution, the first ones are used", kParams);

}  // namespace punt
