// punt bench: a task and a model, with one planner after the other; a table, and files to keep.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "app/bench_table.h"
#include "app/command.h"
#include "app/eval_report.h"
#include "app/eval_setup.h"
#include "app/grid_flags.h"
#include "app/terminal.h"
#include "base/atomic_file.h"
#include "base/check.h"

namespace punt {
namespace {

namespace fs = std::filesystem;

struct BenchFlags {
  EvalFlags eval;
  GridFlags grid;
  std::string out;
  bool json = false;
};

/// A planner of the grid, and where its records go.
struct Entry {
  GridEntry grid;
  Configuration configuration;
  std::unique_ptr<EvalLog> log;  // null: nowhere
};

/// Everything that can be wrong with a planner or its folder is told before the first of them runs.
std::vector<Entry> OpenEntries(const BenchFlags& flags, const EvalSetup& setup, const std::vector<GridEntry>& grid) {
  std::vector<Entry> entries;
  for (const GridEntry& row : grid) {
    MakeEvalRecipe(flags.eval, *setup.model, row.planner, row.score);
    Entry& entry = entries.emplace_back(row, EvalConfiguration(flags.eval, setup, row.planner, row.score), nullptr);
    if (flags.out.empty()) continue;
    entry.log = std::make_unique<EvalLog>(fs::path(flags.out) / FolderName(row), entry.configuration);
  }
  return entries;
}

/// One planner's items; nothing after an interruption.
std::optional<BenchRow> Measure(const BenchFlags& flags, const EvalSetup& setup, const Entry& entry) {
  const std::string what = fmt::format("items, {}", entry.grid.planner);
  const auto show = [&](std::size_t done) { ShowCount(done, setup.count, what); };
  EvalJob job = MakeEvalJob(flags.eval, setup, entry.grid.planner, entry.grid.score);
  job.log = entry.log.get();
  job.on_progress = show;
  std::optional<BenchRow> row = MeasurePlanner(entry.grid, job);
  show(setup.count);
  if (row && entry.log) {
    const EvalReport report{.task = std::string(FindTask(flags.eval.task).name),
                            .model = setup.model->name,
                            .planner = entry.grid.planner,
                            .configuration = entry.configuration,
                            .summary = row->summary};
    entry.log->WriteSummary(EvalJson(report, 2) + "\n");
  }
  return row;
}

/// What has been measured so far, so that a look into the folder shows it at any time.
void WriteFiles(const fs::path& folder, const BenchReport& report) {
  WriteFileAtomically((folder / "bench.json").string(), BenchJson(report));
  WriteFileAtomically((folder / "bench.md").string(), BenchMarkdown(report));
  if (QualityOf(FindTask(report.task), report.rows.front().summary)) {
    WriteFileAtomically((folder / "bench.svg").string(), BenchSvg(report));
  }
}

std::string SamplingLine(const EvalFlags& flags, const Model& model) {
  return fmt::format("temperature {}, top-p {}, seed {}, score {} unless the planner has its own",
                     flags.proposal.temperature, flags.proposal.top_p, flags.seed, ScoreOf(flags, model, ""));
}

int Run(const BenchFlags& flags) {
  const TaskRow& task = FindTask(flags.eval.task);
  CanonicalTaskSpec(flags.eval.task);
  const std::vector<GridEntry> grid = flags.grid.Chosen(!flags.eval.score.empty());
  if (flags.eval.model.empty()) BadInput("--model is missing");
  const EvalSetup setup = OpenEval(flags.eval);
  const std::vector<Entry> entries = OpenEntries(flags, setup, grid);
  InstallInterruptHandlers();
  BenchReport report{.task = std::string(task.name),
                     .model = setup.model->name,
                     .sampling = SamplingLine(flags.eval, *setup.model),
                     .rows = {}};
  const int width = BenchPlannerWidth(grid);
  if (!flags.json) {
    fmt::print("{}, {}: means of {} items\n{}\n{}\n", task.name, report.model, setup.count, report.sampling,
               BenchHeader(task, width));
  }
  for (const Entry& entry : entries) {
    std::fflush(stdout);
    std::optional<BenchRow> row = Measure(flags, setup, entry);
    if (!row) break;
    report.rows.push_back(std::move(*row));
    if (!flags.json) fmt::print("{}\n", BenchLine(task, report.rows.back(), width));
    if (!flags.out.empty()) WriteFiles(flags.out, report);
  }
  if (flags.json) fmt::print("{}", BenchJson(report));
  if (report.rows.size() == grid.size()) return 0;
  std::fflush(stdout);
  fmt::print(stderr, "punt: interrupted after {} of {} planners{}\n", report.rows.size(), grid.size(),
             flags.out.empty() ? "" : "; the same command goes on from there");
  return kInterruptedExit;
}

std::string Footer() {
  return fmt::format(
      "{}\nDIR gets bench.md (table), bench.svg (quality against NFE), bench.json, and a folder per planner "
      "with the\nrecords of all items, as punt eval writes them. The same command goes on where an interrupted run "
      "stopped.\nPlanners that are defined by a score (entropy-bound, threshold, ...) keep theirs unless --score is "
      "given.\n\nExamples:\n"
      "  punt bench sudoku --model sudoku --preset every --limit 50 --out runs/sudoku\n"
      "  punt bench stories --model stories --temperature 0.7 --top-p 0.9 --out runs/stories\n"
      "  punt bench membrane --model membrane --preset paper-protein --temperature 0.8 --out runs/membrane\n"
      "  punt bench sudoku --model sudoku --planners \"punt:epsilon=0.01; top-k:k=2\" --json",
      PresetHelp());
}

}  // namespace

Runner AddBench(CLI::App& command) {
  const auto flags = std::make_shared<BenchFlags>();
  command.footer(Footer());
  flags->eval.AddTo(command);
  flags->grid.AddTo(command);
  command.add_option("--out", flags->out, "Folder of tables, picture and records");
  command.add_flag("--json", flags->json, "Print a JSON array");
  return [flags] { return Run(*flags); };
}

}  // namespace punt
