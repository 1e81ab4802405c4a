#include "app/bench_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/glyphs.h"
#include "app/terminal.h"
#include "report/markdown.h"

namespace punt {
namespace {

constexpr int kNarrowest = 20;
constexpr int kOthers = 50;  // columns of everything but the planner, an interval included
constexpr int kTemperature = 5;
constexpr int kPipeWidth = 1000;

}  // namespace

int TableWidth() { return IsTerminal(stdout) ? SizeOf(stdout).columns : kPipeWidth; }

BenchColumns BenchColumnsOf(std::span<const GridEntry> grid, bool has_temperature, int width) {
  int planner = kNarrowest;
  for (const GridEntry& entry : grid) planner = std::max(planner, TextWidth(entry.planner));
  const int room = std::max(kNarrowest, width - kOthers - (has_temperature ? kTemperature : 0));
  return {std::min(planner, room), has_temperature};
}

std::string BenchHeader(const TaskRow& task, const BenchColumns& columns) {
  return fmt::format("{:<{}} {}{:>6} {:>6} {:>7} {:>5}  {}", "planner", columns.planner,
                     columns.has_temperature ? "   T " : "", "NFE", "steps", "seconds", "TPF", QualityTitle(task));
}

std::string BenchLine(const TaskRow& task, const BenchRow& row, const BenchColumns& columns) {
  const EvalSummary& summary = row.summary;
  const std::string line = fmt::format(
      "{} {}{:>6.1f} {:>6.1f} {:>7.2f} {:>5}", PadToWidth(row.entry.planner, columns.planner),
      columns.has_temperature ? fmt::format("{:>4} ", row.temperature) : "", summary.nfe.value, summary.steps.value,
      summary.seconds, summary.work ? fmt::format("{:.2f}", summary.work->tokens_per_forward.value) : "");
  const std::optional<Figure> quality = QualityOf(task, summary);
  return quality ? fmt::format("{}  {}", line, WithInterval(quality->value, quality->ci95)) : line;
}

}  // namespace punt
