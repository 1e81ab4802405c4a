// A sweep in several processes of this program. Only the parent writes files; workers get jobs and answer with
// records:
//
//   to a worker     POINT ITEM                 (numbers of the plan, which all make from the same arguments)
//   from a worker   POINT ITEM {record}
//                   error CODE message         (bad input or failure; the sweep ends)
//
// An item depends only on its seed and number, so it does not matter which process runs it. If a worker dies, its item
// is given to another, once.
#pragma once

#include <functional>
#include <span>

#include "app/sweep_run.h"

namespace punt {

/// Until all jobs are done or an interruption. Throws Error when a worker reports one, or when a job kills two of them.
void RunInWorkers(const SweepPlan& plan, std::span<const SweepJob> jobs, SweepRecords& records,
                  const std::function<void(std::size_t finished)>& on_wait);

}  // namespace punt
