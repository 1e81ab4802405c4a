#include "app/sweep_run.h"

#include "app/sweep_workers.h"
#include "app/terminal.h"

namespace punt {

void RunSweep(const SweepPlan& plan, const EvalSetup& setup, SweepRecords& records,
              const std::function<void(std::size_t done)>& on_wait) {
  const std::vector<SweepJob> jobs = records.Missing();
  std::size_t done = records.items() - jobs.size();
  on_wait(done);
  if (plan.processes > 1 && jobs.size() > 1) {
    RunInWorkers(plan, jobs, records, [&](std::size_t finished) { on_wait(done + finished); });
    return;
  }
  JobRunner runner(plan, setup, &InstallInterruptHandlers());
  for (const SweepJob& job : jobs) {
    if (WasInterrupted()) return;
    std::optional<EvalRecord> record = runner.Run(job);
    if (!record) return;
    records.Add(job, std::move(*record));
    on_wait(++done);
  }
}

}  // namespace punt
