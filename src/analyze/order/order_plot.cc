#include <fmt/format.h>

#include "analyze/order/order_study.h"
#include "report/markdown.h"
#include "report/planner_style.h"
#include "report/svg_plot.h"

namespace punt {
namespace {

/// The row that stands for a planner: all kinds of prompts.
bool StandsForPlanner(const OrderReport& report, std::size_t index) {
  const std::size_t next = index + 1;
  return next == report.rows.size() || report.rows[next].planner != report.rows[index].planner;
}

double Middle(std::size_t index, std::size_t count) {
  return (static_cast<double>(index) + 0.5) / static_cast<double>(count);
}

PlotSeries EfficiencySeries(const OrderSummary& row) {
  PlotSeries series{.name = row.kind, .points = {}, .line = true};
  for (std::size_t i = 0; i < row.efficiency.size(); ++i) {
    const EfficiencyBin& bin = row.efficiency[i];
    if (bin.nfe == 0) continue;
    series.points.push_back({.x = Middle(i, row.efficiency.size()),
                             .y = bin.tokens / bin.nfe,
                             .label = fmt::format("{}, {}: {} tokens per pass, {} per step", row.planner, row.kind,
                                                  Number(bin.tokens / bin.nfe), Number(bin.tokens / bin.steps))});
  }
  return series;
}

PlotSeries PlaceSeries(const OrderSummary& row) {
  PlotSeries series{.name = row.planner, .points = {}, .line = true};
  for (std::size_t i = 0; i < row.step_by_place.size(); ++i) {
    series.points.push_back({.x = Middle(i, row.step_by_place.size()),
                             .y = row.step_by_place[i],
                             .label = fmt::format("{}: {}", row.planner, Number(row.step_by_place[i]))});
  }
  return series;
}

PlotSeries StructureSeries(const OrderSummary& row) {
  PlotSeries series{.name = row.planner, .points = {}, .line = true};
  for (std::size_t i = 0; i < row.structural.size(); ++i) {
    if (row.committed[i] == 0 || row.structural_share == 0) continue;
    const double ratio = row.structural[i] / row.structural_share;
    series.points.push_back({.x = Middle(i, row.structural.size()),
                             .y = ratio,
                             .label = fmt::format("{}: {} of {} tokens, {} times the text's share", row.planner,
                                                  Number(row.structural[i]), row.committed[i], Number(ratio))});
  }
  return series;
}

}  // namespace

std::string OrderEfficiencySvg(const OrderReport& report) {
  const auto new_panel = [](std::string title) {
    return PlotPanel{.title = std::move(title),
                     .x = {.label = "share of the generation that is filled", .zero = true},
                     .y = {.label = "tokens per forward pass", .zero = true},
                     .series = {}};
  };
  const auto is_first = [&](std::size_t i) { return i == 0 || report.rows[i - 1].planner != report.rows[i].planner; };
  bool has_kinds = false;
  for (std::size_t i = 0; i < report.rows.size(); ++i) has_kinds |= !is_first(i);
  std::vector<PlotPanel> panels;
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const OrderSummary& row = report.rows[i];
    if (panels.empty() || (has_kinds && is_first(i))) panels.push_back(new_panel(has_kinds ? row.planner : ""));
    PlotSeries& series = panels.back().series.emplace_back(EfficiencySeries(row));
    if (!has_kinds) {
      series.name = row.planner;
      series.style = PlannerStyle(row.planner);
    }
    series.highlight = has_kinds ? !is_first(i) && StandsForPlanner(report, i) : IsPuntCurve(row.planner);
  }
  return RenderSvg(panels, "Unmasking efficiency", {.columns = 2});
}

std::string OrderSvg(const OrderReport& report) {
  PlotPanel places{.title = "when each position is filled",
                   .x = {.label = "position in the generation, 0 to 1", .zero = true},
                   .y = {.label = "mean step, 0 first, 1 last", .zero = true},
                   .series = {}};
  PlotPanel structure{.title = "structural tokens among those committed (1: as in the text)",
                      .x = {.label = "share of the text that is committed", .zero = true},
                      .y = {.label = "times their share of the text", .zero = true},
                      .series = {}};
  bool has_structure = false;
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    if (!StandsForPlanner(report, i)) continue;
    places.series.push_back(PlaceSeries(report.rows[i]));
    structure.series.push_back(StructureSeries(report.rows[i]));
    places.series.back().highlight = structure.series.back().highlight = IsPuntCurve(report.rows[i].planner);
    places.series.back().style = structure.series.back().style = PlannerStyle(report.rows[i].planner);
    has_structure |= !structure.series.back().points.empty();
  }
  std::vector<PlotPanel> panels = {std::move(places)};
  if (has_structure) panels.push_back(std::move(structure));
  return RenderSvg(panels, "Order of generation", {.columns = 2});
}

}  // namespace punt
