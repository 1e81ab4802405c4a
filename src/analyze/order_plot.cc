#include <fmt/format.h>

#include "analyze/markdown.h"
#include "analyze/order_study.h"
#include "analyze/svg_plot.h"

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
  std::vector<PlotPanel> panels;
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const bool starts = i == 0 || report.rows[i - 1].planner != report.rows[i].planner;
    if (starts) {
      panels.push_back({.title = report.rows[i].planner,
                        .x = {.label = "share of the generation that is filled"},
                        .y = {.label = "tokens per forward pass"},
                        .series = {}});
    }
    panels.back().series.push_back(EfficiencySeries(report.rows[i]));
    const bool has_kinds = !starts && StandsForPlanner(report, i);
    panels.back().series.back().highlight = has_kinds;
  }
  return RenderSvg(panels, "Unmasking efficiency by kind of prompt", {.columns = 2});
}

std::string OrderSvg(const OrderReport& report) {
  std::vector<PlotPanel> panels = {{.title = "when each position is filled",
                                    .x = {.label = "position in the generation, 0 to 1"},
                                    .y = {.label = "mean step, 0 first, 1 last"},
                                    .series = {}},
                                   {.title = "structural tokens among those committed (1: as in the text)",
                                    .x = {.label = "share of the text that is committed"},
                                    .y = {.label = "times their share of the text"},
                                    .series = {}}};
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    if (!StandsForPlanner(report, i)) continue;
    panels[0].series.push_back(PlaceSeries(report.rows[i]));
    panels[1].series.push_back(StructureSeries(report.rows[i]));
    for (PlotPanel& panel : panels) panel.series.back().highlight = report.rows[i].planner.starts_with("punt");
  }
  return RenderSvg(panels, "Order of generation", {.columns = 2});
}

}  // namespace punt
