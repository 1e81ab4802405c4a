#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "analyze/exactness/exactness.h"
#include "analyze/exactness/exactness_table.h"
#include "report/planner_style.h"

namespace punt {
std::vector<PlotPanel> TradeOffPanels(const ExactnessOptions& options, const ExactnessResults& results) {
  const std::vector<ExactnessJob> jobs = ExactnessJobs(options);
  std::vector<PlotPanel> panels;
  for (const TradeOffSetting& setting : TradeOffSettings(options)) {
    PlotPanel panel{.title = setting.name,
                    .x = {.label = "NFE", .log = true, .floor = 1e-3},
                    .y = {.label = "parallel-sampling error, nats", .log = true, .floor = 1e-4},
                    .series = {}};
    const std::vector<ExactnessRow> rows = RowsOf(jobs, results, setting.name);
    for (const ExactnessRow& row : rows) {
      PlotSeries& series = SeriesOf(panel, row.family);
      series.line = IsPunt(row) || row.family == "random" || row.family == "halton" || row.family == "dilated";
      series.highlight = row.family == "punt" || row.family == "punt, random order";
      series.style = PlannerStyle(row.family);
      series.points.push_back({.x = row.Mean("nfe"),
                               .y = row.Mean("error"),
                               .label = fmt::format("{} ({}): {:.4g} nats at {:.4g} NFE", row.planner, row.score,
                                                    row.Mean("error"), row.Mean("nfe")),
                               .hollow = IsTooTypical(row, rows)});
    }
    panels.push_back(std::move(panel));
  }
  return panels;
}

std::vector<PlotPanel> HeadlinePanels(const ExactnessOptions& options, const ExactnessResults& results) {
  const std::vector<std::string> shown = {
      "punt",   "punt, random order", "top-k",   "entropy-bound", "dilated", "random",
      "halton", "left-to-right",      "timestep"};
  std::vector<PlotPanel> headline;
  for (PlotPanel& panel : TradeOffPanels(options, results)) {
    const bool hard =
        panel.title == "chain, L = 1024, randomly permuted" || panel.title == "tree, L = 1024, randomly permuted";
    if (!hard && !options.quick) continue;
    std::erase_if(panel.series, [&](const PlotSeries& series) {
      return std::find(shown.begin(), shown.end(), series.name) == shown.end();
    });
    for (PlotSeries& series : panel.series) series.line = true;
    headline.push_back(std::move(panel));
  }
  return headline;
}

std::vector<PlotPanel> EpsilonPanels(const ExactnessOptions& options, const ExactnessResults& results) {
  const std::vector<ExactnessJob> jobs = ExactnessJobs(options);
  PlotPanel panel{.title = "random joint tables",
                  .x = {.label = "epsilon", .log = true, .floor = 1e-9},
                  .y = {.label = "total variation", .log = false},
                  .series = {}};
  for (const ExactnessRow& row : RowsOf(jobs, results, kEpsilonSection)) {
    PlotSeries& series = SeriesOf(panel, row.family);
    series.line = true;
    series.highlight = row.family == "iterative";
    series.points.push_back(
        {std::stod(row.column), row.Mean("tv"),
         fmt::format("epsilon {}: {:.4g}, {:.4g} steps", row.column, row.Mean("tv"), row.Mean("steps"))});
  }
  return {panel};
}

}  // namespace punt
