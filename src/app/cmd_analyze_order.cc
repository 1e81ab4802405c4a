// punt analyze order: in which order planners fill the canvas, from runs made here or from traces.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "analyze/order/order_study.h"
#include "app/analyses.h"
#include "app/event_list.h"
#include "app/help.h"
#include "app/study_setup.h"
#include "app/terminal.h"
#include "app/text_table.h"
#include "app/trace_file.h"
#include "base/check.h"
#include "generate/trace_pieces.h"
#include "punt/planner.h"
#include "punt/spec.h"
#include "report/markdown.h"

namespace punt {
namespace {

struct OrderFlags {
  StudyFlags study;
  std::vector<std::string> traces;
};

/// The run's events with the texts of its tokens.
std::vector<TraceEvent> WithPieces(const Model& model, std::span<const TraceEvent> events) {
  EventList list;
  PieceAnnotator annotator(*model.tokenizer, list);
  for (const TraceEvent& event : events) annotator.On(event);
  return list.events();
}

std::string Measure(const StudySetup& setup, const StudyRun& run) {
  std::vector<OrderRun> runs = OrderRunsOf(WithPieces(setup.model, run.events));
  Check(runs.size() == 1, "a run without its first event");
  OrderRun& order = runs.front();
  order.id = run.id;
  order.planner = run.entry.planner;
  order.kind = run.prompt.kind;
  order.sample = run.sample;
  return OrderRunLine(order);
}

/// A trace may name planners with every key; those at their defaults are left out.
std::string WithoutDefaults(const std::string& planner) {
  try {
    return ShortPlannerSpec(planner);
  } catch (const Error&) {  // a planner that this version does not know
    return planner.empty() ? "unknown" : planner;
  }
}

/// Every file counts as one kind.
std::vector<OrderRun> ReadRuns(const std::vector<std::string>& traces) {
  std::vector<OrderRun> runs;
  for (const std::string& path : traces) {
    std::vector<OrderRun> some;
    try {
      some = OrderRunsOf(ReadTraceFile(path));
    } catch (const Error& error) {
      const bool is_named = std::string_view(error.what()).find(path) != std::string_view::npos;
      if (is_named) throw;
      BadInput("{}: {}", path, error.what());
    }
    if (some.empty()) BadInput("{}: the trace is empty", path);
    for (OrderRun& run : some) {
      if (run.commits.empty()) continue;
      run.kind = std::filesystem::path(path).stem().string();
      run.planner = WithoutDefaults(run.planner);
      runs.push_back(std::move(run));
    }
  }
  if (runs.empty()) BadInput("{}: no run commits anything", fmt::join(traces, ", "));
  return runs;
}

void PrintTable(const OrderReport& report) {
  std::vector<std::string> planners;
  for (const OrderSummary& row : report.rows) planners.push_back(row.planner);
  const TextTable table("planner", planners,
                        {{.title = "prompts", .width = 12, .is_text = true},
                         {"NFE", 6},
                         {"steps", 6},
                         {"tok/pass", 9},
                         {"l-to-r", 9},
                         {"lag", 9}},
                        OutputColumns());
  fmt::print("{}, {}\n{}\n", report.source, report.sampling, table.Head());
  for (const OrderSummary& row : report.rows) {
    fmt::print("{}\n", table.Row(row.planner, {row.kind, fmt::format("{:.1f}", row.nfe),
                                               fmt::format("{:.1f}", row.steps), Number(row.tokens_per_pass),
                                               row.left_to_right ? Number(row.left_to_right->value) : "-",
                                               row.structure_lag ? Number(row.structure_lag->value) : "-"}));
  }
}

template <typename Write>
void WriteReport(const OrderFlags& flags, const OrderReport& report, std::span<const OrderRun> runs,
                 const Write& write) {
  if (!flags.study.json) PrintTable(report);
  write("commits.csv", OrderCsv(runs));
  write("order-efficiency.svg", OrderEfficiencySvg(report));
  write("order.svg", OrderSvg(report));
  write("order.md", OrderMarkdown(report));
  write("summary.json", OrderJson(report, 2) + "\n");
  if (flags.study.json) fmt::print("{}\n", OrderJson(report, -1));
}

int RunOnTraces(const OrderFlags& flags) {
  const std::vector<OrderRun> runs = ReadRuns(flags.traces);
  const RecordFolder folder(flags.study.out, {{"analysis", "order of traces"}}, "analysis", [](std::string_view) {});
  const std::string files = fmt::format("{}", fmt::join(flags.traces, " "));
  const OrderReport report{.source = files,
                           .sampling = fmt::format("{} runs", runs.size()),
                           .command = fmt::format("punt analyze order --trace {} --out {}", files, flags.study.out),
                           .rows = SummariseOrder(runs)};
  WriteReport(flags, report, runs,
              [&](const char* name, const std::string& text) { WriteStudyFile(flags.study, folder, name, text); });
  return 0;
}

int RunOrderStudy(const OrderFlags& flags) {
  if (!flags.traces.empty()) return RunOnTraces(flags);
  const StudySetup setup = OpenStudy(flags.study, "order");
  const StudyJob job{.measure = [&](const StudyRun& run) { return Measure(setup, run); },
                     .id_of = [](std::string_view line) { return ParseOrderRun(line).id; }};
  const std::optional<StudyRecords> records = RunStudy(flags.study, setup, job);
  if (!records) return kInterruptedExit;
  std::vector<OrderRun> runs;
  for (std::size_t i = 0; i < records->lines.size(); ++i) {
    runs.push_back(ParseOrderRun(records->lines[i]));
    runs.back().planner = setup.grid[i / setup.samples].planner;  // an earlier run may have spelled it differently
  }
  const OrderReport report{.source = setup.model.name,
                           .sampling = fmt::format("{} sequences per planner, {}", setup.samples, setup.how),
                           .command = StudyCommand("order", flags.study, setup),
                           .rows = SummariseOrder(runs)};
  WriteReport(flags, report, runs, [&](const char* name, const std::string& text) {
    WriteStudyFile(flags.study, *records->folder, name, text);
  });
  return 0;
}

std::string Footer() {
  return fmt::format(
      "Examples:\n"
      "  punt analyze order --temperature 0.7 --top-p 0.9 --out runs/order\n"
      "  punt analyze order --model llada-8b.gguf --chat --prompts mt_bench/question.jsonl --out runs/kinds\n"
      "  punt generate --samples 4 --trace run.jsonl && punt analyze order --trace run.jsonl --out runs/trace\n"
      "{}{}\n"
      "DIR gets order.md, order-efficiency.svg, order.svg, commits.csv, summary.json, and items.jsonl with a record\n"
      "per run as they come. The same command goes on where an interrupted run stopped. With traces, every file is a\n"
      "kind of prompts; other options than --out and --json have no meaning then.",
      kRestOfFooter, PresetHelp());
}

}  // namespace

Runner AddOrderStudy(CLI::App& command) {
  const auto flags = std::make_shared<OrderFlags>();
  flags->study.usual_planners = "punt; entropy-bound:gamma=1; top-k:k=4; left-to-right";
  command.footer(Footer());
  flags->study.AddTo(command);
  command.add_option("--trace", flags->traces, "Trace files of punt generate, instead of runs made here");
  SetGroup(command, "Text", {"--trace"});
  return [flags] { return RunOrderStudy(*flags); };
}

}  // namespace punt
