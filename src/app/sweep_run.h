// Running a sweep, in this process or in several.
#pragma once

#include <cstddef>
#include <functional>

#include "app/eval_setup.h"
#include "tasks/sweep_records.h"

namespace punt {

/// Does all jobs that are missing, until an interruption. `on_wait` is called before and after every job, and at times
/// between.
void RunSweep(const SweepPlan& plan, const EvalSetup& setup, SweepRecords& records,
              const std::function<void(std::size_t done)>& on_wait);

/// One process of a sweep with several: does the jobs that arrive on its standard input. Returns the exit code.
int RunSweepWorker(SweepPlan plan);

}  // namespace punt
