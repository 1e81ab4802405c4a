#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analyze/attention/attention_study.h"
#include "base/check.h"
#include "base/json_text.h"
#include "report/markdown.h"
#include "report/svg_plot.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostDots = 600;  // per panel: more would merge into a blot
constexpr double kLeast = 1e-6;

Json SpreadJson(const Spread& spread) {
  const auto finite = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
  return {{"q05", finite(spread.low)}, {"median", finite(spread.middle)}, {"q95", finite(spread.high)}};
}

Json MaybeJson(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }
std::string Maybe(const std::optional<double>& value) { return value ? Number(*value) : "-"; }

Json LayersJson(const AttentionSummary& row) {
  Json list = Json::array();
  for (const auto& layer : row.layers) {
    Json object = Json::object();
    for (std::size_t kind = 0; kind < layer.size(); ++kind) {
      object[std::string(kStateNames[kind])] = SpreadJson(layer[kind]);
    }
    list.push_back(std::move(object));
  }
  return list;
}

std::string SpreadCell(const Spread& spread) {
  return fmt::format("{} ({} to {})", Number(spread.middle), Number(spread.low), Number(spread.high));
}

std::string HeadLine(const AttentionSummary& row) {
  std::string text = fmt::format("- `{}`:", row.planner);
  for (std::size_t head = 0; head < row.head_median.size(); ++head) {
    text += fmt::format("{} {} ({})", head == 0 ? "" : ",", Number(row.head_median[head]),
                        Maybe(row.head_correlation[head]));
  }
  return text + "\n";
}

/// Rows that have something to show.
std::vector<const AttentionSummary*> Shown(const AttentionReport& report) {
  std::vector<const AttentionSummary*> rows;
  for (const AttentionSummary& row : report.rows) {
    if (row.tokens > 0) rows.push_back(&row);
  }
  if (rows.empty()) BadInput("nothing to draw: no step committed more than one token");
  return rows;
}

}  // namespace

std::string AttentionJson(const AttentionReport& report, int indent) {
  Json rows = Json::array();
  for (const AttentionSummary& row : report.rows) {
    Json heads = Json::array();
    for (std::size_t head = 0; head < row.head_median.size(); ++head) {
      heads.push_back({{"median", row.head_median[head]}, {"rank_correlation", MaybeJson(row.head_correlation[head])}});
    }
    rows.push_back({{"planner", row.planner},
                    {"runs", row.runs},
                    {"nfe_mean", row.nfe},
                    {"tokens", row.tokens},
                    {"kl_new_base", SpreadJson(row.error)},
                    {"delta_a", SpreadJson(row.delta_a)},
                    {"delta_a_masked", SpreadJson(row.delta_a_masked)},
                    {"rank_correlation", MaybeJson(row.correlation)},
                    {"heads", heads},
                    {"layers", LayersJson(row)}});
  }
  const Json all = {
      {"analysis", "attention"}, {"model", report.model}, {"sampling", report.sampling}, {"planners", rows}};
  return Dump(all, indent);
}

std::string AttentionMarkdown(const AttentionReport& report) {
  std::string text = fmt::format(
      "# Attention and independence\n\n{}, {}. Made by `{}`.\n\nTokens committed with others before them in their "
      "step: "
      "median (Q5 to Q95) of the error delta_KL, in nats, and of delta_A, the attention in the last layer from the "
      "token "
      "to those before it, mean over heads.\n\n",
      report.model, report.sampling, report.command);
  text += TableHead({"planner", "NFE", "tokens", "delta_KL", "delta_A", "delta_A while masked", "rank correlation"});
  for (const AttentionSummary& row : report.rows) {
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |\n", row.planner, Cost(row.nfe), row.tokens,
                        SpreadCell(row.error), SpreadCell(row.delta_a), SpreadCell(row.delta_a_masked),
                        Maybe(row.correlation));
  }
  text +=
      "\n![delta_KL against delta_A](attention-kl.svg)\n\nBy head, the median of delta_A (its rank correlation with "
      "delta_KL):\n\n";
  for (const AttentionSummary& row : report.rows) {
    if (row.tokens > 0) text += HeadLine(row);
  }
  text +=
      "\n## States\n\nNormalised difference |a - b| / |a| between before (a) and after (b) the other tokens are "
      "revealed, median (Q5 to Q95).\n";
  for (const AttentionSummary& row : report.rows) {
    if (row.tokens == 0) continue;
    text += fmt::format("\n`{}`\n\n", row.planner) + TableHead({"layer", "output", "queries", "keys", "values"});
    for (std::size_t layer = 0; layer < row.layers.size(); ++layer) {
      text += fmt::format("| {} |", layer);
      for (const Spread& spread : row.layers[layer]) text += fmt::format(" {} |", SpreadCell(spread));
      text += "\n";
    }
  }
  return text + "\n![differences by layer](attention-states.svg)\n";
}

std::string AttentionSvg(const AttentionReport& report) {
  std::vector<PlotPanel> panels;
  for (const AttentionSummary* row : Shown(report)) {
    PlotPanel& panel = panels.emplace_back(
        PlotPanel{.title = fmt::format("{}, rank correlation {}", row->planner, Maybe(row->correlation)),
                  .x = {.label = "delta_A, mean over heads", .log = true, .floor = kLeast},
                  .y = {.label = "delta_KL, nats", .log = true, .floor = kLeast},
                  .series = {}});
    PlotSeries& series = SeriesOf(panel, "token");
    const std::size_t stride = (row->pairs.size() + kMostDots - 1) / kMostDots;
    for (std::size_t i = 0; i < row->pairs.size(); i += std::max<std::size_t>(1, stride)) {
      series.points.push_back({.x = row->pairs[i].first, .y = row->pairs[i].second, .hollow = true});
    }
  }
  return RenderSvg(panels, "Error and attention of tokens in parallel", {.columns = 2, .shares_axes = true});
}

std::string StatesSvg(const AttentionReport& report) {
  std::vector<PlotPanel> panels;
  for (const AttentionSummary* row : Shown(report)) {
    PlotPanel& panel =
        panels.emplace_back(PlotPanel{.title = row->planner,
                                      .x = {.label = "layer"},
                                      .y = {.label = "normalised difference", .log = true, .floor = 1e-5},
                                      .series = {}});
    for (std::size_t kind = 0; kind < kStateNames.size(); ++kind) {
      PlotSeries& series = SeriesOf(panel, kStateNames[kind]);
      series.line = true;
      series.highlight = kind == 0;
      for (std::size_t layer = 0; layer < row->layers.size(); ++layer) {
        const Spread& spread = row->layers[layer][kind];
        // Side by side, or their bars would cover each other.
        series.points.push_back({.x = static_cast<double>(layer) + 0.08 * (static_cast<double>(kind) - 1.5),
                                 .y = spread.middle,
                                 .label = fmt::format("{}, layer {}: {}", kStateNames[kind], layer, SpreadCell(spread)),
                                 .range = PlotRange{spread.low, spread.high}});
      }
    }
  }
  return RenderSvg(panels, "Change of states: Q5, median, Q95", {.columns = 2, .shares_axes = true});
}

}  // namespace punt
