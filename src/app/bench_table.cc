#include "app/bench_table.h"

#include <fmt/format.h>

#include "report/markdown.h"

namespace punt {
namespace {

constexpr int kQuality = 20;  // a value and its interval

std::vector<TextColumn> ColumnsOf(const TaskRow& task, bool has_temperature) {
  std::vector<TextColumn> columns;
  if (has_temperature) columns.push_back({"T", 4});
  for (const TextColumn& column : {TextColumn{"NFE", 6}, {"steps", 6}, {"seconds", 7}, {"TPF", 5}}) {
    columns.push_back(column);
  }
  columns.push_back({.title = std::string(QualityTitle(task)), .width = kQuality, .is_text = true, .gap = 2});
  return columns;
}

}  // namespace

BenchTable::BenchTable(const TaskRow& task, std::span<const GridEntry> grid, bool has_temperature, int columns)
    : task_(task),
      has_temperature_(has_temperature),
      table_("planner", PlannerNames(grid), ColumnsOf(task, has_temperature), columns) {}

std::string BenchTable::Line(const BenchRow& row) const {
  const EvalSummary& summary = row.summary;
  const std::optional<Figure> quality = QualityOf(task_, summary);
  std::vector<std::string> cells;
  if (has_temperature_) cells.push_back(fmt::format("{}", row.temperature));
  cells.push_back(fmt::format("{:.1f}", summary.nfe.value));
  cells.push_back(fmt::format("{:.1f}", summary.steps.value));
  cells.push_back(fmt::format("{:.2f}", summary.seconds));
  cells.push_back(summary.work ? fmt::format("{:.2f}", summary.work->tokens_per_forward.value) : "");
  cells.push_back(quality ? WithInterval(quality->value, quality->ci95) : "");
  return table_.Row(row.entry.planner, cells);
}

std::vector<std::string> PlannerNames(std::span<const GridEntry> grid) {
  std::vector<std::string> names;
  for (const GridEntry& entry : grid) names.push_back(entry.planner);
  return names;
}

}  // namespace punt
