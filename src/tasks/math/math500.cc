// Task `math500`: 500 problems of MATH (math_benchmark.h).
#include "tasks/math/math_benchmark.h"
#include "tasks/task_rows.h"

namespace punt {
namespace {

const ParamRow kParams[] = {ShotsParam("4"), ChatParam("false")};

}  // namespace

const TaskRow kMath500Row =
    BenchmarkTaskRow<kMathBenchmark>("math500", "500 problems of competition mathematics, four worked examples",
                                     "MATH-500 as JSON lines with problem, solution and answer; shots: JSON lines "
                                     "with problem and solution, the first ones are used",
                                     kParams);

}  // namespace punt
