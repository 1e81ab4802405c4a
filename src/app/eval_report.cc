#include "app/eval_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/glyphs.h"

namespace punt {
namespace {

/// The costs and figures as lines of one table.
std::vector<Figure> Lines(const EvalSummary& summary) {
  std::vector<Figure> lines;
  if (summary.accuracy) lines.push_back(FigureOf(kAccuracy, *summary.accuracy));
  for (const Figure& figure : summary.figures) {
    if (!figure.is_detail) lines.push_back(figure);
  }
  lines.push_back(FigureOf("nfe_mean", summary.nfe));
  lines.push_back(FigureOf("steps_mean", summary.steps));
  lines.push_back({.name = "seconds_mean", .value = summary.seconds});
  for (const Figure& figure : CostFigures(summary)) {
    if (!figure.is_detail) lines.push_back(figure);
  }
  return lines;
}

std::string Number(double value) { return fmt::format("{:.{}f}", value, std::abs(value) < 10 ? 4 : 2); }

}  // namespace

std::string FigureTable(const std::vector<std::string>& headings, const std::vector<Figure>& figures, int columns) {
  std::size_t width = 0;
  for (const Figure& figure : figures) width = std::max(width, figure.name.size());
  std::string table;
  for (const std::string& heading : headings) {
    if (!heading.empty()) table += FitToWidth(heading, columns) + "\n";
  }
  for (const Figure& figure : figures) {
    std::string interval = figure.is_estimate ? "  -" : "";
    if (figure.ci95) interval = fmt::format("  [{}, {}]", Number(figure.ci95->low), Number(figure.ci95->high));
    table += FitToWidth(fmt::format("  {:<{}} {:>10}{}", figure.name, width, Number(figure.value), interval), columns);
    table += "\n";
  }
  return table;
}

std::string EvalTable(const EvalReport& report, int columns) {
  const std::string items = report.summary.items == 1 ? "1 item" : fmt::format("{} items", report.summary.items);
  return FigureTable({fmt::format("{}, {}", report.task, items), report.model, report.planner}, Lines(report.summary),
                     columns);
}

}  // namespace punt
