// punt analyze attention: what attention and states do when tokens are committed in parallel.
#include <fmt/format.h>

#include <memory>

#include "analyze/attention/attention_study.h"
#include "app/analyses.h"
#include "app/bench_table.h"
#include "app/help.h"
#include "app/study_setup.h"
#include "app/terminal.h"
#include "base/check.h"
#include "report/markdown.h"

namespace punt {
namespace {

std::string Measure(const StudySetup& setup, const StudyRun& run) {
  CommitCollector collector;
  for (const TraceEvent& event : run.events) collector.On(event);
  return AttentionRunLine({.id = run.id,
                           .planner = run.entry.planner,
                           .sample = run.sample,
                           .nfe = run.result.counters.nfe(),
                           .tokens = MeasureAttention(*setup.model.denoiser, collector.steps(), setup.session)});
}

void PrintTable(const StudySetup& setup, const AttentionReport& report) {
  const TextTable table("planner", PlannerNames(setup.grid),
                        {{"NFE", 6}, {"tokens", 7}, {"delta_KL", 10}, {"delta_A", 10}, {"correlation", 12}},
                        OutputColumns());
  fmt::print("{}, {}: medians\n{}\n", report.model, report.sampling, table.Head());
  for (const AttentionSummary& row : report.rows) {
    fmt::print("{}\n", table.Row(row.planner, {fmt::format("{:.1f}", row.nfe), fmt::format("{}", row.tokens),
                                               Number(row.error.middle), Number(row.delta_a.middle),
                                               row.correlation ? Number(*row.correlation) : "-"}));
  }
}

int RunAttentionStudy(const StudyFlags& flags) {
  const StudySetup setup = OpenStudy(flags, "attention");
  if (!setup.model.denoiser->info().has_attention_maps) {
    BadInput("{} is not a network: it has no attention to look at", setup.model.name);
  }
  const StudyJob job{.measure = [&](const StudyRun& run) { return Measure(setup, run); },
                     .id_of = [](std::string_view line) { return ParseAttentionRun(line).id; }};
  const std::optional<StudyRecords> records = RunStudy(flags, setup, job);
  if (!records) return kInterruptedExit;
  std::vector<AttentionRun> runs;
  for (std::size_t i = 0; i < records->lines.size(); ++i) {
    runs.push_back(ParseAttentionRun(records->lines[i]));
    runs.back().planner = setup.grid[i / setup.samples].planner;  // an earlier run may have spelled it differently
  }
  const AttentionReport report{.model = setup.model.name,
                               .sampling = fmt::format("{} sequences per planner, {}", setup.samples, setup.how),
                               .command = StudyCommand("attention", flags, setup),
                               .rows = SummariseAttention(runs)};
  const std::string pairs = AttentionSvg(report), states = StatesSvg(report);  // refuse before anything is printed
  if (!flags.json) PrintTable(setup, report);
  const auto write = [&](const char* name, const std::string& text) {
    WriteStudyFile(flags, *records->folder, name, text);
  };
  write("pairs.csv", AttentionCsv(runs));
  write("states.csv", StatesCsv(runs));
  write("attention-kl.svg", pairs);
  write("attention-states.svg", states);
  write("attention.md", AttentionMarkdown(report));
  write("summary.json", AttentionJson(report, 2) + "\n");
  if (flags.json) fmt::print("{}\n", AttentionJson(report, -1));
  return 0;
}

std::string Footer() {
  return fmt::format(
      "Every committed token is evaluated again with the tokens before it in its step revealed: how far its "
      "prediction\n"
      "moves (delta_KL), how much it attends to them in the last layer (delta_A), how far the output, queries, keys "
      "and\n"
      "values of every layer move. Networks only. These passes are not counted in NFE.\n\n"
      "Examples:\n"
      "  punt analyze attention --temperature 0.7 --top-p 0.9 --out runs/attention\n"
      "  punt analyze attention --planners \"punt:epsilon=0.01; punt:epsilon=0.64\" --samples 4 --out runs/two\n"
      "{}{}\n"
      "DIR gets attention.md, attention-kl.svg, attention-states.svg, pairs.csv, states.csv, summary.json, and\n"
      "items.jsonl with a record per run as they come. The same command goes on where an interrupted run stopped.",
      kRestOfFooter, PresetHelp());
}

}  // namespace

Runner AddAttentionStudy(CLI::App& command) {
  const auto flags = std::make_shared<StudyFlags>();
  flags->usual_planners = "punt:epsilon=0.01; punt:epsilon=0.04; punt:epsilon=0.16; punt:epsilon=0.64";
  command.footer(Footer());
  flags->AddTo(command);
  return [flags] { return RunAttentionStudy(*flags); };
}

}  // namespace punt
