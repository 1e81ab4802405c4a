// punt replay: a trace on the same screen as a live run.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>

#include "app/canvas_view.h"
#include "app/command.h"
#include "app/options.h"
#include "app/terminal.h"
#include "app/trace_file.h"
#include "base/check.h"
#include "punt/trace.h"

namespace punt {
namespace {

struct ReplayFlags {
  std::string trace;
  double speed = 1;
  std::int64_t step = 0;
  std::int64_t run = 0;
  ViewFlags view;
  CLI::Option* step_option = nullptr;
  CLI::Option* run_option = nullptr;
};

/// The events of one run, if one was asked for.
std::vector<TraceEvent> Select(std::vector<TraceEvent> events, const ReplayFlags& flags) {
  if (events.empty()) BadInput("{}: the trace is empty", flags.trace);
  if (flags.run_option->count() == 0 && flags.step_option->count() == 0) return events;
  std::vector<TraceEvent> chosen;
  std::int64_t run = -1;
  for (TraceEvent& event : events) {
    run += std::holds_alternative<RunEvent>(event);
    if (run == flags.run) chosen.push_back(std::move(event));
  }
  if (chosen.empty()) BadInput("{} holds runs 0 to {}, not {}", flags.trace, run, flags.run);
  return chosen;
}

/// The canvas as it was at the end of a step, as one frame.
void ShowStep(const std::vector<TraceEvent>& events, const ReplayFlags& flags, const ViewOptions& options) {
  CanvasModel model;
  bool found = false;
  for (const TraceEvent& event : events) {
    model.On(event);
    const auto* commit = std::get_if<CommitEvent>(&event);
    found = commit != nullptr && commit->step == flags.step;
    if (found) break;
  }
  if (!found) BadInput("{} has no step {} in run {}; its last is {}", flags.trace, flags.step, flags.run, model.step());
  const bool is_wide = IsTerminal(options.out);
  fmt::print("{}", RenderFrame(model, {.width = is_wide ? SizeOf(options.out).columns : 80, .colour = options.colour}));
}

/// A note for every run without an end: its last state is not the result.
void NoteCutRuns(const std::vector<TraceEvent>& events, const ReplayFlags& flags) {
  std::int64_t run = -1;
  bool is_open = false;
  const auto note = [&] {
    if (is_open) fmt::print(stderr, "punt: note: {}: run {} has no end, the trace was cut short\n", flags.trace, run);
  };
  for (const TraceEvent& event : events) {
    if (std::holds_alternative<RunEvent>(event)) {
      note();
      ++run;
      is_open = true;
    }
    if (std::holds_alternative<EndEvent>(event)) is_open = false;
  }
  note();
}

int Run(const ReplayFlags& flags) {
  ViewOptions options = flags.view.Options(stdout, ViewKind::kPlain);
  options.delay_ms = static_cast<int>(std::lround(static_cast<double>(flags.view.delay_ms) / flags.speed));
  std::vector<TraceEvent> all = ReadTraceFile(flags.trace);
  NoteCutRuns(all, flags);
  const std::vector<TraceEvent> events = Select(std::move(all), flags);
  InstallInterruptHandlers();
  if (flags.step_option->count() > 0) {
    ShowStep(events, flags, options);
    return 0;
  }
  CanvasView view(options);
  for (const TraceEvent& event : events) {
    if (WasInterrupted()) break;
    view.On(event);
  }
  return WasInterrupted() ? SayInterrupted("the replay") : 0;
}

}  // namespace

Runner AddReplay(CLI::App& command) {
  const auto flags = std::make_shared<ReplayFlags>();
  constexpr std::int64_t kInt = std::numeric_limits<int>::max();
  command.add_option("trace", flags->trace, "Trace file; - reads the standard input")->required();
  CLI::Option* speed = AddReal(command, "--speed", flags->speed, 0.01, 1000, "Faster (above 1) or slower");
  flags->view.AddTo(command);
  speed->excludes("--delay");
  flags->step_option = AddInteger(command, "--step", flags->step, 0, kInt, "Show only the end of this step");
  flags->run_option = AddInteger(command, "--run", flags->run, 0, kInt, "Only this run of the file, counted from 0");
  command.footer(
      "Examples:\n  punt replay run.jsonl\n  punt replay run.jsonl --speed 4\n  punt replay run.jsonl --step 3 --view "
      "plain\n  punt replay - < run.jsonl\n\n"
      "Green: accepted in this step; red: rejected; plain: committed earlier; dots: still masked.");
  return [flags] { return Run(*flags); };
}

}  // namespace punt
