// punt analyze error: generates with every planner, and measures what committing in parallel cost.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "analyze/error/error_study.h"
#include "app/analyses.h"
#include "app/bench_table.h"
#include "app/help.h"
#include "app/study_setup.h"
#include "app/terminal.h"
#include "report/markdown.h"

namespace punt {
namespace {

struct ErrorFlags {
  StudyFlags study;
  bool every_curve = false;
};

std::string Measure(const StudySetup& setup, const StudyRun& run) {
  CommitCollector collector;
  for (const TraceEvent& event : run.events) collector.On(event);
  ParallelErrorReport report = MeasureParallelError(*setup.model.denoiser, collector.steps(), setup.session);
  return ErrorRunLine({.id = run.id,
                       .family = run.entry.family,
                       .planner = run.entry.planner,
                       .score = run.entry.score,
                       .sample = run.sample,
                       .base_passes = run.result.counters.base_passes,
                       .test_passes = run.result.counters.test_passes,
                       .steps = run.result.steps,
                       .extra_passes = report.passes,
                       .tokens = std::move(report.tokens)});
}

std::vector<ErrorRun> ParseRuns(const StudySetup& setup, const StudyRecords& records) {
  std::vector<ErrorRun> runs;
  for (std::size_t i = 0; i < records.lines.size(); ++i) {
    runs.push_back(ParseErrorRun(records.lines[i]));
    const GridEntry& entry = setup.grid[i / setup.samples];  // an earlier run may have spelled it differently
    runs.back().family = entry.family;
    runs.back().planner = entry.planner;
  }
  return runs;
}

void PrintTable(const StudySetup& setup, const std::vector<ErrorSummary>& rows) {
  const TextTable table("planner", PlannerNames(setup.grid),
                        {{"NFE", 6}, {"steps", 6}, {"delta_KL", 10}, {"median", 9}, {"Q95", 9}}, OutputColumns());
  fmt::print("{}: {} sequences per planner, {}\n{}\n", setup.model.name, setup.samples, setup.how, table.Head());
  for (const ErrorSummary& row : rows) {
    fmt::print("{}\n", table.Row(row.planner, {fmt::format("{:.1f}", row.nfe.value), fmt::format("{:.1f}", row.steps),
                                               Number(row.new_base.per_token.value), Number(row.new_base.median),
                                               Number(row.new_base.q95)}));
  }
}

int RunErrorStudy(const ErrorFlags& flags) {
  const StudySetup setup = OpenStudy(flags.study, "error");
  const StudyJob job{.measure = [&](const StudyRun& run) { return Measure(setup, run); },
                     .id_of = [](std::string_view line) { return ParseErrorRun(line).id; }};
  const std::optional<StudyRecords> records = RunStudy(flags.study, setup, job);
  if (!records) return kInterruptedExit;
  const std::vector<ErrorRun> runs = ParseRuns(setup, *records);
  const ErrorReport report{.model = setup.model.name,
                           .sampling = setup.how,
                           .command = StudyCommand("error", flags.study, setup),
                           .rows = SummariseErrors(runs)};
  if (!flags.study.json) PrintTable(setup, report.rows);
  const auto write = [&](const char* name, const std::string& text) {
    WriteStudyFile(flags.study, *records->folder, name, text);
  };
  write("tokens.csv", ErrorCsv(runs));
  write("error-nfe.svg", ErrorNfeSvg(report));
  const std::string revealed = ErrorRevealedSvg(report, flags.every_curve);
  if (!revealed.empty()) write("error-revealed.svg", revealed);
  write("error.md", ErrorMarkdown(report));
  write("summary.json", ErrorJson(report, 2) + "\n");
  if (flags.study.json) fmt::print("{}\n", ErrorJson(report, -1));
  return 0;
}

std::string Footer() {
  return fmt::format(
      "Every committed token is evaluated again with the tokens before it in its step revealed; delta_KL is the\n"
      "divergence between the two predictions, in nats. These passes are not counted in NFE.\n\n"
      "Examples:\n"
      "  punt analyze error --temperature 0.7 --top-p 0.9 --out runs/error\n"
      "  punt analyze error --model toy:markov,length=64 --quick --out runs/quick\n"
      "  punt analyze error --planners \"punt:epsilon=0.04; top-k:k=4\" --prompts prompts.txt --out runs/two\n"
      "{}{}\n"
      "DIR gets error.md, error-nfe.svg, error-revealed.svg, tokens.csv, summary.json, and items.jsonl with a record\n"
      "per run as they come. The same command goes on where an interrupted run stopped; more samples or planners\n"
      "are added to what is there. docs/analysis.md says how to read it.",
      kRestOfFooter, PresetHelp());
}

}  // namespace

Runner AddErrorStudy(CLI::App& command) {
  const auto flags = std::make_shared<ErrorFlags>();
  command.footer(Footer());
  flags->study.AddTo(command);
  command.add_flag("--every-curve", flags->every_curve, "Draw the error by revealed tokens for every planner");
  SetGroup(command, "Output", {"--every-curve"}, kInFullHelp);
  return [flags] { return RunErrorStudy(*flags); };
}

}  // namespace punt
