// punt bench: a task and a model, with many planners, temperatures and seeds; a table, and files to keep.
#include <fmt/format.h>

#include <memory>

#include "app/bench_flags.h"
#include "app/bench_table.h"
#include "app/command.h"
#include "app/dry_run.h"
#include "app/help.h"
#include "app/sweep_progress.h"
#include "app/terminal.h"
#include "base/check.h"
#include "tasks/sweep_report.h"
#include "tasks/tasks.h"

namespace punt {
namespace {

/// Rows as they are completed, in the order of the plan.
class Output {
 public:
  Output(const BenchFlags& flags, const SweepPlan& plan, const EvalSetup& setup)
      : flags_(flags), plan_(plan), task_(FindTask(plan.eval.task)), progress_(plan.points.size() * setup.count) {
    report_ = EmptyReport(plan, setup);
    configuration_ = SweepConfiguration(plan, setup, "punt " PUNT_VERSION);
    std::vector<GridEntry> grid;
    for (const SweepPoint& point : plan.points) grid.push_back(point.entry);
    table_.emplace(task_, grid, plan.axes.temperatures.size() > 1, OutputColumns());
    if (flags.json) return;
    const std::size_t items = setup.count * plan.axes.seeds.size();
    fmt::print("{}, {}: means of {} item{}\n{}\n{}\n", task_.name, report_.model, items, items == 1 ? "" : "s",
               report_.sampling, table_->Head());
    FlushOutput();
  }

  void Update(const SweepRecords& records, std::size_t done) {
    while (!is_complete() && records.IsComplete(report_.rows.size())) {
      report_.rows.push_back(records.Row(report_.rows.size()));
      progress_.Clear();
      if (!flags_.json) fmt::print("{}\n", table_->Line(report_.rows.back()));
      FlushOutput();
      const std::string note = UnfinishedLine(report_.rows.back());
      if (!note.empty()) fmt::print(stderr, "punt: note: {}\n", note);
      if (!plan_.out.empty()) WriteReport(plan_.out, report_, configuration_);
    }
    if (!is_complete()) progress_.Show(done);
  }

  /// Returns the exit code.
  int Finish() {
    progress_.Clear();
    if (flags_.json) fmt::print("{}", BenchJson(report_));
    if (is_complete()) {
      if (!flags_.json) fmt::print("{}\n", AupLine(report_));
      return 0;
    }
    return SayInterrupted(fmt::format("after {} of {} rows{}", report_.rows.size(), plan_.rows(),
                                      plan_.out.empty() ? "" : "; the same command goes on from there"));
  }

 private:
  bool is_complete() const { return report_.rows.size() == plan_.rows(); }

  const BenchFlags& flags_;
  const SweepPlan& plan_;
  const TaskRow& task_;
  SweepProgress progress_;
  std::optional<BenchTable> table_;
  Configuration configuration_;
  BenchReport report_;
};

int Run(const BenchFlags& flags) {
  SweepPlan plan = flags.Plan();
  if (flags.dry_run) {
    fmt::print("{}", DryRun(plan, flags.json));
    return 0;
  }
  plan.eval.model.name = ModelOf(plan.eval);
  if (flags.worker_threads > 0) return RunSweepWorker(std::move(plan));
  const EvalSetup setup = OpenEval(plan.eval, {.generates = plan.processes == 1});
  plan.ChooseScore(*setup.model);
  SweepRecords records(plan, setup);
  InstallInterruptHandlers();
  Output output(flags, plan, setup);
  RunSweep(plan, setup, records, [&](std::size_t done) { output.Update(records, done); });
  return output.Finish();
}

constexpr const char* kExamples = R"(Examples:
  punt bench sudoku --preset every --limit 50 --out runs/sudoku
  punt bench stories --temperatures 0.1,0.7 --seeds 1-3 --processes 4 --out runs/stories
  punt bench membrane --preset paper-protein --out runs/membrane
  punt bench lists:kind=shuffle,people=10 --model tasks
  punt bench sudoku --planners "punt:epsilon=0.01; top-k:k=2" --json
)";

constexpr const char* kMoreExamples = R"(
A preset named by --preset also decides how to sample where no flag does; --dry-run tells. A planner that the model
cannot run is an error before anything is measured.
DIR gets report.html (plots and tables, opens in a browser), bench.md, bench.svg, bench.json, and a folder per planner,
temperature and seed with the records of all items, as punt eval writes them. The same command goes on where an
interrupted run stopped. Planners that are defined by a score (entropy-bound, threshold, ...) keep theirs unless --score
is given.

More examples:
  punt bench records:schema=people,entries=16 --model tasks --planners "left-to-right; punt" --out runs/records
  punt bench parallelbench --model tasks --data ParallelBench
  punt bench stories --reference runs/one-by-one/left-to-right --seed 1
  punt bench --preset paper-text --dry-run)";

std::string Footer() { return std::string(kExamples) + kRestOfFooter + PresetHelp() + kMoreExamples; }

}  // namespace

Runner AddBench(CLI::App& command) {
  const auto flags = std::make_shared<BenchFlags>();
  command.footer(Footer());
  flags->AddTo(command);
  return [flags] { return Run(*flags); };
}

}  // namespace punt
