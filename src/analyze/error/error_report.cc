// The report of the error study. Sentences that compare are computed from the numbers beside them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analyze/error/error_study.h"
#include "base/json_text.h"
#include "report/confidence_json.h"
#include "report/markdown.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kPunt = "punt";

Json Finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json FiguresJson(const ErrorFigures& figures) {
  return {{"mean_per_token", figures.per_token.value},
          {"mean_per_token_ci95", IntervalJson(figures.per_token.ci95)},
          {"mean_per_parallel_token", figures.per_parallel_token},
          {"mean_per_sequence", figures.per_sequence},
          {"q05", Finite(figures.q05)},
          {"median", Finite(figures.median)},
          {"q95", Finite(figures.q95)},
          {"max", Finite(figures.most)},
          {"infinite", figures.infinite}};
}

Json BinsJson(const std::vector<RevealedBin>& bins) {
  Json list = Json::array();
  for (const RevealedBin& bin : bins) {
    list.push_back({{"revealed_low", bin.low},
                    {"revealed_high", bin.high},
                    {"tokens", bin.tokens},
                    {"q05", Finite(bin.q05)},
                    {"median", Finite(bin.median)},
                    {"q95", Finite(bin.q95)}});
  }
  return list;
}

std::string MainTable(const ErrorReport& report) {
  std::string text = TableHead({"planner", "score", "NFE", "steps", "mean delta_KL per token", "per sequence",
                                "tokens in parallel", "their median", "their Q95", "their largest"});
  for (const ErrorSummary& row : report.rows) {
    const ErrorFigures& error = row.new_base;
    text += fmt::format(
        "| `{}` | {} | {} | {} | {} | {} | {:.0f} % | {} | {} | {} |\n", row.planner, row.score, Cost(row.nfe.value),
        Cost(row.steps), WithInterval(error.per_token), Number(error.per_sequence),
        100.0 * static_cast<double>(row.parallel_tokens) / static_cast<double>(std::max<std::int64_t>(1, row.tokens)),
        Number(error.median), Number(error.q95), Number(error.most));
  }
  return text;
}

std::string OtherDirectionTable(const ErrorReport& report) {
  std::string text = TableHead({"planner", "mean per token", "per sequence", "median in parallel", "Q95", "infinite"});
  for (const ErrorSummary& row : report.rows) {
    const ErrorFigures& error = row.base_new;
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", row.planner, WithInterval(error.per_token),
                        Number(error.per_sequence), Number(error.median), Number(error.q95), error.infinite);
  }
  return text;
}

std::string EpsilonTable(const ErrorReport& report) {
  std::string text;
  for (const ErrorSummary& row : report.rows) {
    if (!row.above_epsilon) continue;
    if (text.empty()) text = TableHead({"planner", "epsilon", "Q95 of delta_KL", "share above epsilon"});
    text += fmt::format("| `{}` | {} | {} | {:.2f} % |\n", row.planner, Number(*row.epsilon), Number(row.new_base.q95),
                        100 * *row.above_epsilon);
  }
  return text;
}

std::vector<std::string> OtherFamilies(const ErrorReport& report) {
  std::vector<std::string> families;
  for (const ErrorSummary& row : report.rows) {
    if (row.family != kPunt && std::find(families.begin(), families.end(), row.family) == families.end()) {
      families.push_back(row.family);
    }
  }
  return families;
}

/// How PUNT compares with one family over the settings at which both have points.
std::string EqualNfeLine(const std::string& family, int below, int compared) {
  if (compared == 0)
    return fmt::format("- {}: none of its settings brackets PUNT's passes, nothing to compare\n", family);
  return fmt::format("- {}: PUNT's mean is the smaller one at {} of {} settings where both have points\n", family,
                     below, compared);
}

/// One by one is exact with a pass per token: beyond that no planner has anything to gain.
std::string OneByOneLine(const ErrorReport& report) {
  int settings = 0, dear = 0;
  double most = 0;  // tokens of a sequence
  for (const ErrorSummary& row : report.rows) {
    if (row.family != kPunt) continue;
    const double tokens = static_cast<double>(row.tokens) / static_cast<double>(row.runs);
    most = std::max(most, tokens);
    ++settings;
    dear += row.nfe.value >= tokens ? 1 : 0;
  }
  return fmt::format("- one by one is exact with {} passes; {} of PUNT's {} settings take as many or more\n",
                     Cost(most), dear, settings);
}

/// PUNT against every other family at PUNT's NFE, and how often it has the smaller error.
std::string EqualNfeTable(const ErrorReport& report) {
  const std::vector<std::string> families = OtherFamilies(report);
  std::vector<std::string> titles = {"planner", "NFE", "delta_KL"};
  titles.insert(titles.end(), families.begin(), families.end());
  std::string table;
  std::vector<int> below(families.size()), compared(families.size());
  for (const ErrorSummary& row : report.rows) {
    if (row.family != kPunt) continue;
    const double own = row.new_base.per_token.value;
    table += fmt::format("| `{}` | {} | {} |", row.planner, Cost(row.nfe.value), Number(own));
    for (std::size_t i = 0; i < families.size(); ++i) {
      const std::optional<double> other = ErrorAtNfe(report.rows, families[i], row.nfe.value);
      table += fmt::format(" {} |", other ? Number(*other) : "-");
      if (!other) continue;
      ++compared[i];
      below[i] += own < *other ? 1 : 0;
    }
    table += "\n";
  }
  if (table.empty() || families.empty()) return "";
  std::string text = TableHead(titles) + table + "\n";
  for (std::size_t i = 0; i < families.size(); ++i) text += EqualNfeLine(families[i], below[i], compared[i]);
  return text + OneByOneLine(report);
}

}  // namespace

std::string ErrorJson(const ErrorReport& report, int indent) {
  Json rows = Json::array();
  for (const ErrorSummary& row : report.rows) {
    Json object = {{"family", row.family},
                   {"planner", row.planner},
                   {"score", row.score},
                   {"runs", row.runs},
                   {"nfe_mean", row.nfe.value},
                   {"nfe_mean_ci95", IntervalJson(row.nfe.ci95)},
                   {"steps_mean", row.steps},
                   {"tokens", row.tokens},
                   {"parallel_tokens", row.parallel_tokens},
                   {"extra_passes", row.extra_passes},
                   {"kl_new_base", FiguresJson(row.new_base)},
                   {"kl_base_new", FiguresJson(row.base_new)}};
    if (row.epsilon) object["epsilon"] = *row.epsilon;
    if (row.above_epsilon) object["share_above_epsilon"] = *row.above_epsilon;
    object["by_revealed"] = BinsJson(row.by_revealed);
    rows.push_back(std::move(object));
  }
  const Json all = {{"analysis", "error"}, {"model", report.model}, {"sampling", report.sampling}, {"planners", rows}};
  return Dump(all, indent);
}

std::string ErrorMarkdown(const ErrorReport& report) {
  const std::int64_t runs = report.rows.front().runs;
  std::string text = fmt::format(
      "# Parallel-sampling error\n\n{}: {} sequences per planner, {}. Made by `{}`.\n\n"
      "delta_KL of a committed token is KL(p(. | x, y before it in its step) || p(. | x)), in nats. The first token of "
      "a "
      "step has none. The passes that measure it are not in NFE. Intervals of 95 %.\n\n",
      report.model, runs, report.sampling, report.command);
  text += MainTable(report);
  text += "\n![mean error against NFE](error-nfe.svg)\n";
  const std::string equal = EqualNfeTable(report);
  if (!equal.empty()) {
    text +=
        "\n## At equal NFE\n\nMean delta_KL per token that the others reach with PUNT's NFE: on straight lines between "
        "their settings; - where they have none on both sides.\n\n" +
        equal;
  }
  const std::string epsilon = EpsilonTable(report);
  if (!epsilon.empty()) {
    text += "\n## Below epsilon?\n\nTokens committed with others before them in their step.\n\n" + epsilon +
            "\n![error by tokens revealed before](error-revealed.svg)\n";
  }
  text +=
      "\n## The other direction\n\nKL(p(. | x) || p(. | x, y before it in its step)). It is infinite where the "
      "tokens before rule out one that could have been drawn; means are over the finite ones.\n\n" +
      OtherDirectionTable(report);
  return text;
}

}  // namespace punt
