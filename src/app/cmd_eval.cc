// punt eval: a task, a model and a planner; a record for each item, then the summary.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "app/command.h"
#include "app/eval_mt_bench.h"
#include "app/eval_report.h"
#include "app/eval_setup.h"
#include "app/help.h"
#include "app/sweep_progress.h"
#include "app/terminal.h"
#include "base/check.h"
#include "eval/run.h"
#include "punt/planner.h"
#include "tasks/mt_bench/mt_bench.h"
#include "tasks/tasks.h"

namespace punt {
namespace {

struct EvalCommand {
  EvalFlags eval;
  bool reference = false;
  std::string out;
  bool json = false;
  CLI::Option* planner_option = nullptr;
  CLI::Option* temperature_option = nullptr;
};

/// Throws Error on options that contradict each other; fills in the default model.
void Complete(EvalCommand& command) {
  CanonicalTaskSpec(command.eval.task);  // a wrong key is reported before a missing model
  CanonicalPlannerSpec(command.eval.sampling.planner);
  const std::optional<double> usual = UsualTemperature(command.eval.task);
  if (usual && command.temperature_option->count() == 0) command.eval.sampling.temperature = *usual;
  const bool has_model = !command.eval.model.name.empty();
  if (command.reference && has_model) BadInput("--reference does not judge a model: leave out --model");
  if (command.reference && command.planner_option->count() > 0) BadInput("--reference has no planner");
  if (!command.reference) command.eval.model.name = ModelOf(command.eval);
}

int Run(EvalCommand command) {
  if (command.eval.task == kMtBench) {
    if (command.reference) BadInput("mt-bench has no reference");
    return AnswerMtBench(command.eval,
                         {.planner = command.eval.sampling.planner, .out = command.out, .json = command.json});
  }
  Complete(command);
  EvalSetup setup = OpenEval(command.eval);
  EvalReport report{.task = std::string(FindTask(command.eval.task).name),
                    .model = setup.model ? setup.model->name : setup.judge,
                    .planner = setup.model ? ShortPlannerSpec(command.eval.sampling.planner) : "",
                    .configuration = EvalConfiguration(command.eval, setup, command.eval.sampling.planner, "")};
  std::optional<EvalLog> log;
  if (!command.out.empty()) log.emplace(command.out, report.configuration);
  SweepProgress progress(setup.count);
  EvalJob job = MakeEvalJob(command.eval, setup, command.eval.sampling.planner, "");
  job.cancel = &InstallInterruptHandlers();
  job.log = log ? &*log : nullptr;
  job.on_progress = [&](std::size_t done) { progress.Show(done); };
  const std::vector<EvalRecord> records = RunItems(job);
  progress.Clear();
  if (records.size() < setup.count) {
    return SayInterrupted(fmt::format("after {} of {} items{}", records.size(), setup.count,
                                      log ? "; the same command goes on from there" : ""));
  }
  report.summary = Summarise(*setup.task, records);
  if (log) log->WriteSummary(EvalJson(report, 2) + "\n");
  if (command.json) {
    fmt::print("{}\n", EvalJson(report, -1));
    return 0;
  }
  fmt::print("{}", EvalTable(report, OutputColumns()));
  FlushOutput();
  for (const std::string& note : report.summary.notes) fmt::print(stderr, "punt: note: {}\n", note);
  if (setup.judge.empty() && FindTask(command.eval.task).takes_judge) {
    fmt::print(stderr, "punt: note: --judge names a judge\n");
  }
  return 0;
}

constexpr const char* kExamples = R"(Examples:
  punt eval sudoku --planner punt:epsilon=0.01 --out runs/sudoku-punt
  punt eval sudoku:size=6 --model sudoku6.gguf --planner top-k:k=4 --limit 50 --json
  punt eval stories --temperature 0.7 --top-p 0.9 --out runs/stories
  punt eval stories --reference --judge stories15m --temperature 0.8
  punt eval membrane --data membrane.fasta --limit 20
  punt eval mt-bench --model llada-8b.gguf --data question.jsonl --length 1024 --out runs/mt-bench
)";

/// Where the data of every task comes from, then the rest.
std::string Footer() {
  std::string text = std::string(kExamples) + kRestOfFooter;
  text += "Tasks and their data (--data; parameters: punt list tasks):\n";
  for (const TaskRow& row : Tasks()) text += fmt::format("  {:<10} {}\n", row.name, row.data_help);
  text += fmt::format("  {:<10} {}\n", kMtBench,
                      "question.jsonl of lm-sys/FastChat; punt score mt-bench judges the answers");
  return text + R"(
The records of all items go to DIR/items.jsonl as they are finished; the same command again goes on where an
interrupted run stopped, and a larger --limit adds items. DIR/summary.json is written at the end. Intervals
are 95 % intervals. docs/evaluation.md says how each figure is computed, and punt list tasks where data comes from.
punt bench runs many planners, punt puzzles writes data for sudoku.)";
}

}  // namespace

Runner AddEval(CLI::App& command) {
  const auto flags = std::make_shared<EvalCommand>();
  command.footer(Footer());
  flags->eval.AddTo(command, true);
  flags->temperature_option = command.get_option("--temperature");
  flags->planner_option = command.get_option("--planner");
  command.add_flag("--reference", flags->reference, "No model: judge the judge's own samples");
  command.add_option("--out", flags->out, "Folder of records and summary");
  command.add_flag("--json", flags->json, "Print the summary as JSON");
  SetGroup(command, "Task", {"--reference"}, kInFullHelp);
  SetGroup(command, "Output", {"--out", "--json"});
  return [flags] { return Run(*flags); };
}

}  // namespace punt
