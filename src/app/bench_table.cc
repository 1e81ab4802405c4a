#include "app/bench_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/glyphs.h"

namespace punt {
namespace {

constexpr int kNarrowest = 20;
constexpr int kWidest = 30;  // leaves the table within 80 columns

}  // namespace

int BenchPlannerWidth(std::span<const GridEntry> grid) {
  int width = kNarrowest;
  for (const GridEntry& entry : grid) width = std::max(width, TextWidth(entry.planner));
  return std::min(width, kWidest);
}

std::string BenchHeader(const TaskRow& task, int width) {
  return fmt::format("{:<{}} {:>6} {:>6} {:>7}  {}", "planner", width, "NFE", "steps", "seconds", QualityTitle(task));
}

std::string BenchLine(const TaskRow& task, const BenchRow& row, int width) {
  const EvalSummary& summary = row.summary;
  const std::string line = fmt::format("{} {:>6.1f} {:>6.1f} {:>7.2f}", PadToWidth(row.entry.planner, width),
                                       summary.nfe.value, summary.steps.value, summary.seconds);
  const std::optional<Figure> quality = QualityOf(task, summary);
  return quality ? fmt::format("{}  {}", line, WithInterval(quality->value, quality->ci95)) : line;
}

}  // namespace punt
