#include "eval/bench_plot.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "report/markdown.h"
#include "report/planner_style.h"

namespace punt {
namespace {

constexpr double kDecade = 10;

std::optional<double> Calls(const BenchRow& row) {
  return row.summary.work ? std::optional(row.summary.work->calls) : std::nullopt;
}

std::optional<double> RowPasses(const BenchRow& row) {
  return row.summary.work ? std::optional(row.summary.work->row_passes) : std::nullopt;
}

std::optional<double> TokensPerForward(const BenchRow& row) {
  return row.summary.work ? std::optional(row.summary.work->tokens_per_forward.value) : std::nullopt;
}

constexpr BenchCost kCosts[] = {
    {"forward passes per item (NFE), tests included",
     [](const BenchRow& row) { return std::optional(row.summary.nfe.value); }},
    {"seconds per item", [](const BenchRow& row) { return std::optional(row.summary.seconds); }},
    {"tokens per forward pass (TPF)", TokensPerForward},
    {"steps per item", [](const BenchRow& row) { return std::optional(row.summary.steps.value); }},
    {"dependent calls per item", Calls},
    {"row passes per item", RowPasses},
    {"base passes per item", [](const BenchRow& row) { return std::optional(row.summary.base_passes); }},
    {"test passes per item", [](const BenchRow& row) { return std::optional(row.summary.test_passes); }},
};

bool SpansDecades(const std::vector<double>& values) {
  if (values.empty()) return false;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return *least > 0 && *most > kDecade * *least;
}

void MakeLog(PlotAxis& axis, const std::vector<double>& values) {
  axis.log = true;
  axis.floor = *std::min_element(values.begin(), values.end()) / 2;  // no value is at or below it
  axis.label += ", logarithmic";
}

std::string PointLabel(const BenchReport& report, const BenchRow& row, const Figure& quality) {
  const EvalSummary& summary = row.summary;
  std::string label =
      fmt::format("{}\ntemperature {}{}\n{}: {}\nNFE: {} (base {}, test {})\nsteps: {}", row.entry.planner,
                  row.temperature, row.entry.score.empty() ? "" : fmt::format(", score {}", row.entry.score),
                  QualityTitle(*report.task), WithInterval(quality.value, quality.ci95), WithInterval(summary.nfe),
                  Cost(summary.base_passes), Cost(summary.test_passes), Cost(summary.steps.value));
  if (summary.work) label += fmt::format(", calls: {}", Cost(summary.work->calls));
  label += fmt::format("\nseconds: {}", Number(summary.seconds));
  if (summary.work) label += fmt::format("\ntokens per forward: {}", WithInterval(summary.work->tokens_per_forward));
  label += fmt::format("\n{} items", summary.items);
  std::vector<std::uint64_t> seeds;
  for (const BenchRun& run : row.runs) seeds.push_back(run.seed);
  if (!seeds.empty()) label += fmt::format(", seed{} {}", seeds.size() == 1 ? "" : "s", fmt::join(seeds, ", "));
  return label;
}

std::optional<Figure> DrawableQuality(const BenchReport& report, const BenchRow& row) {
  std::optional<Figure> quality = QualityOf(*report.task, row.summary);
  if (!quality || !std::isfinite(quality->value)) return std::nullopt;
  const bool has_ends = quality->ci95 && std::isfinite(quality->ci95->low) && std::isfinite(quality->ci95->high);
  if (!has_ends) quality->ci95.reset();
  return quality;
}

std::vector<double> Temperatures(const BenchReport& report) {
  std::vector<double> temperatures;
  for (const BenchRow& row : report.rows) {
    const bool is_known = std::find(temperatures.begin(), temperatures.end(), row.temperature) != temperatures.end();
    if (!is_known) temperatures.push_back(row.temperature);
  }
  return temperatures;
}

}  // namespace

std::span<const BenchCost> BenchCosts() { return kCosts; }

bool HasPicture(const BenchReport& report) {
  return std::any_of(report.rows.begin(), report.rows.end(),
                     [&](const BenchRow& row) { return DrawableQuality(report, row).has_value(); });
}

std::string QualityAxisTitle(const TaskRow& task) {
  return fmt::format("{} ({})", QualityTitle(task), task.less_is_better ? "less is better" : "more is better");
}

PlotPanel BenchPanel(const BenchReport& report, const BenchCost& cost) {
  PlotPanel panel{.title = "",
                  .x = {.label = std::string(cost.title)},
                  .y = {.label = QualityAxisTitle(*report.task)},
                  .series = {}};
  const std::vector<double> temperatures = Temperatures(report);
  std::vector<double> costs, qualities;
  for (const BenchRow& row : report.rows) {
    const std::optional<Figure> quality = DrawableQuality(report, row);
    if (!quality) continue;
    const std::string name = CurveName(report, row);
    PlotSeries& series = SeriesOf(panel, name);
    series.line = true;
    series.highlight = IsPuntCurve(name);
    series.style = PlannerStyle(name);
    series.dash =
        static_cast<int>(std::find(temperatures.begin(), temperatures.end(), row.temperature) - temperatures.begin());
    const std::optional<double> value = cost.value(row);
    if (!value || !std::isfinite(*value)) continue;
    PlotPoint& point = series.points.emplace_back();
    point = {.x = *value, .y = quality->value, .label = PointLabel(report, row, *quality)};
    if (quality->ci95) point.range = PlotRange{quality->ci95->low, quality->ci95->high};
    costs.push_back(point.x);
    qualities.insert(qualities.end(), {point.y, point.range ? point.range->low : point.y});
    if (point.range) qualities.push_back(point.range->high);
  }
  if (SpansDecades(costs)) MakeLog(panel.x, costs);
  if (report.task->less_is_better && SpansDecades(qualities)) MakeLog(panel.y, qualities);
  for (PlotSeries& series : panel.series) {
    std::stable_sort(series.points.begin(), series.points.end(),
                     [](const PlotPoint& a, const PlotPoint& b) { return a.x < b.x; });
  }
  return panel;
}

std::string BenchSvg(const BenchReport& report) {
  if (!HasPicture(report)) {
    BadInput("{}: nothing to draw, {} was not measured", report.task->name, report.task->quality);
  }
  const PlotPanel panel = BenchPanel(report, BenchCosts().front());
  return RenderSvg({&panel, 1}, fmt::format("{}: planners compared", report.task->name),
                   {.columns = 1, .panel_width = 720, .panel_height = 440});
}

}  // namespace punt
