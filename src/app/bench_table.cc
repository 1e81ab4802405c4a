#include "app/bench_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/markdown.h"
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
  std::string quality(task.quality);
  std::replace(quality.begin(), quality.end(), '_', ' ');
  return fmt::format("{:<{}} {:>6} {:>6} {:>7}  {}", "planner", width, "NFE", "steps", "seconds", quality);
}

std::string BenchLine(const TaskRow& task, const BenchRow& row, int width) {
  const std::string planner = FitToWidth(row.entry.planner, width);
  const std::string padding(static_cast<std::size_t>(width - TextWidth(planner)), ' ');
  const EvalSummary& summary = row.summary;
  std::string line = fmt::format("{}{} {:>6.1f} {:>6.1f} {:>7.2f}", planner, padding, summary.nfe.value,
                                 summary.steps.value, summary.seconds);
  const std::optional<Figure> quality = QualityOf(task, summary);
  if (!quality) return line;
  line += fmt::format("  {}", Number(quality->value));
  if (quality->ci95) line += fmt::format(" [{}, {}]", Number(quality->ci95->low), Number(quality->ci95->high));
  return line;
}

}  // namespace punt
