#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyze/error/error_study.h"
#include "report/markdown.h"
#include "report/planner_style.h"
#include "report/svg_plot.h"

namespace punt {
namespace {

constexpr double kLeastPasses = 0.5;
constexpr double kLeastError = 1e-6;
constexpr std::int64_t kFewTokens = 20;  // below it a quantile says little: drawn hollow

PlotPanel RevealedPanel(std::string title) {
  return {.title = std::move(title),
          .x = {.label = "tokens revealed before in the same step", .log = true, .floor = kLeastPasses},
          .y = {.label = "delta_KL, nats", .log = true, .floor = kLeastError},
          .series = {}};
}

PlotPoint PointOf(const ErrorSummary& row, const RevealedBin& bin) {
  const std::string range = bin.low == bin.high ? fmt::format("{}", bin.low) : fmt::format("{}-{}", bin.low, bin.high);
  return {.x = bin.centre,
          .y = bin.median,
          .label = fmt::format("{}, {} revealed before, {} tokens: median {}, Q5 {}, Q95 {}", row.planner, range,
                               bin.tokens, Number(bin.median), Number(bin.q05), Number(bin.q95)),
          .hollow = bin.tokens < kFewTokens};
}

bool IsDrawable(const RevealedBin& bin) {
  return std::isfinite(bin.q05) && std::isfinite(bin.median) && std::isfinite(bin.q95);
}

/// One planner: medians, quantiles as bars, its epsilon as a line.
PlotPanel OwnPanel(const ErrorSummary& row) {
  PlotPanel panel = RevealedPanel(fmt::format("{}: median, Q5 to Q95", row.planner));
  PlotSeries series{.name = row.planner, .points = {}, .line = true};
  for (const RevealedBin& bin : row.by_revealed) {
    if (!IsDrawable(bin)) continue;
    series.points.push_back(PointOf(row, bin));
    series.points.back().range = PlotRange{bin.q05, bin.q95};
  }
  if (row.epsilon && !series.points.empty()) {
    const std::string label = fmt::format("epsilon {}", Number(*row.epsilon));
    panel.series.push_back(
        {.name = "epsilon",
         .points = {{.x = series.points.front().x, .y = *row.epsilon, .label = label, .hollow = true},
                    {.x = series.points.back().x, .y = *row.epsilon, .label = label, .hollow = true}},
         .line = true});
  }
  panel.series.insert(panel.series.begin(), std::move(series));
  return panel;
}

}  // namespace

std::string ErrorNfeSvg(const ErrorReport& report) {
  PlotPanel panel{
      .title = "mean over committed tokens, with 95 % intervals (less is better)",
      .x = {.label = "forward passes per sequence (NFE), tests included", .log = true, .floor = kLeastPasses},
      .y = {.label = "delta_KL, nats per token", .log = true, .floor = kLeastError},
      .series = {}};
  for (const ErrorSummary& row : report.rows) {
    PlotSeries& series = SeriesOf(panel, row.family);
    series.line = true;
    series.highlight = IsPuntCurve(row.family);
    series.style = PlannerStyle(row.family);
    const Estimate& error = row.new_base.per_token;
    series.points.push_back({.x = row.nfe.value,
                             .y = error.value,
                             .label = fmt::format("{}: {} nats per token at NFE {}", row.planner, Number(error.value),
                                                  Cost(row.nfe.value))});
    if (error.ci95) series.points.back().range = PlotRange{error.ci95->low, error.ci95->high};
  }
  for (PlotSeries& series : panel.series) {
    std::stable_sort(series.points.begin(), series.points.end(),
                     [](const PlotPoint& a, const PlotPoint& b) { return a.x < b.x; });
  }
  return RenderSvg({&panel, 1}, "Parallel-sampling error against forward passes",
                   {.columns = 1, .panel_width = 720, .panel_height = 440});
}

std::string ErrorRevealedSvg(const ErrorReport& report, bool every_planner) {
  std::vector<PlotPanel> panels = {RevealedPanel("medians")};
  for (const ErrorSummary& row : report.rows) {
    if (!every_planner && !row.epsilon) continue;
    PlotPanel own = OwnPanel(row);
    if (own.series.front().points.empty()) continue;
    PlotSeries medians = own.series.front();
    for (PlotPoint& point : medians.points) point.range.reset();
    panels.front().series.push_back(std::move(medians));
    panels.push_back(std::move(own));
  }
  if (panels.size() == 1) return "";
  return RenderSvg(panels, "Error by tokens revealed before in the step", {.columns = 2, .shares_axes = true});
}

}  // namespace punt
