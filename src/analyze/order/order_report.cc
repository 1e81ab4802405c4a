#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "analyze/order/order_study.h"
#include "base/json_text.h"
#include "report/confidence_json.h"
#include "report/markdown.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

Json EstimateJson(const std::optional<Estimate>& estimate) {
  if (!estimate) return nullptr;
  return {{"mean", estimate->value}, {"ci95", IntervalJson(estimate->ci95)}};
}

Json EfficiencyJson(const OrderSummary& row) {
  Json list = Json::array();
  for (int i = 0; i < kProgressBins; ++i) {
    const EfficiencyBin& bin = row.efficiency[static_cast<std::size_t>(i)];
    list.push_back({{"filled_from", static_cast<double>(i) / kProgressBins},
                    {"steps", bin.steps},
                    {"tokens", bin.tokens},
                    {"nfe", bin.nfe},
                    {"tokens_per_pass", bin.nfe > 0 ? Json(bin.tokens / bin.nfe) : Json(nullptr)},
                    {"tokens_per_step", bin.steps > 0 ? Json(bin.tokens / bin.steps) : Json(nullptr)}});
  }
  return list;
}

Json StructureJson(const OrderSummary& row) {
  Json classes = Json::object();
  for (std::size_t i = 0; i < kTokenClassNames.size(); ++i) {
    classes[std::string(kTokenClassNames[i])] = {{"tokens", row.class_tokens[i]}, {"mean_rank", row.class_time[i]}};
  }
  return {{"share", row.structural_share},
          {"share_by_tenth", row.structural},
          {"tokens_by_tenth", row.committed},
          {"lag", EstimateJson(row.structure_lag)},
          {"classes", classes}};
}

std::string Cell(const std::optional<Estimate>& estimate) {
  if (!estimate) return "-";
  return WithInterval(*estimate);
}

std::string ClassCell(const OrderSummary& row, TokenClass token_class) {
  const auto i = static_cast<std::size_t>(token_class);
  if (row.class_tokens[i] == 0) return "-";
  return fmt::format("{} ({})", Number(row.class_time[i]), row.class_tokens[i]);
}

std::string Verdict(const OrderSummary& row) {
  if (!row.structure_lag || !row.structure_lag->ci95) return "too little to say";
  if (row.structure_lag->ci95->high < 0) return "structure first";
  return row.structure_lag->ci95->low > 0 ? "structure last" : "undecided";
}

}  // namespace

std::string OrderCsv(std::span<const OrderRun> runs) {
  std::string text = "planner,kind,sample,step,place,class\n";
  for (const OrderRun& run : runs) {
    for (const OrderCommit& commit : run.commits) {
      text += fmt::format("\"{}\",\"{}\",{},{},{},{}\n", run.planner, run.kind, run.sample, commit.step, commit.place,
                          kTokenClassNames[static_cast<std::size_t>(commit.token_class)]);
    }
  }
  return text;
}

std::string OrderJson(const OrderReport& report, int indent) {
  Json rows = Json::array();
  for (const OrderSummary& row : report.rows) {
    rows.push_back({{"planner", row.planner},
                    {"kind", row.kind},
                    {"runs", row.runs},
                    {"nfe_mean", row.nfe},
                    {"steps_mean", row.steps},
                    {"tokens_per_pass", row.tokens_per_pass},
                    {"tokens_per_step", row.tokens_per_step},
                    {"left_to_right", EstimateJson(row.left_to_right)},
                    {"efficiency", EfficiencyJson(row)},
                    {"step_by_place", row.step_by_place},
                    {"structure", StructureJson(row)}});
  }
  const Json all = {{"analysis", "order"}, {"source", report.source}, {"sampling", report.sampling}, {"rows", rows}};
  return Dump(all, indent);
}

std::string OrderMarkdown(const OrderReport& report) {
  std::string text = fmt::format("# Order of generation\n\n{}, {}. Made by `{}`. Intervals of 95 %.\n\n", report.source,
                                 report.sampling, report.command);
  text += "## Efficiency\n\n" + TableHead({"planner", "prompts", "runs", "NFE", "steps", "tokens per pass",
                                           "tokens per step", "left-to-rightness"});
  for (const OrderSummary& row : report.rows) {
    text +=
        fmt::format("| `{}` | {} | {} | {} | {} | {} | {} | {} |\n", row.planner, row.kind, row.runs, Cost(row.nfe),
                    Cost(row.steps), Number(row.tokens_per_pass), Number(row.tokens_per_step), Cell(row.left_to_right));
  }
  text +=
      "\nLeft-to-rightness is the rank correlation of a position with the step that filled it: 1 left to right, -1 "
      "right "
      "to left, 0 neither.\n\n![tokens per pass against progress](order-efficiency.svg)\n\n## Structure\n\n"
      "Mean rank at which tokens of a class are committed, 0 first, 1 last (how many). The lag is that of structural "
      "tokens (newlines, markup, punctuation) minus that of words, run by run: negative means that structure comes "
      "first.\n\n";
  text += TableHead({"planner", "prompts", "newline", "markup", "punctuation", "word", "lag", "verdict"});
  for (const OrderSummary& row : report.rows) {
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} | {} |\n", row.planner, row.kind,
                        ClassCell(row, TokenClass::kNewline), ClassCell(row, TokenClass::kMarkup),
                        ClassCell(row, TokenClass::kPunctuation), ClassCell(row, TokenClass::kWord),
                        Cell(row.structure_lag), Verdict(row));
  }
  return text + "\n![order by position, structure over time](order.svg)\n";
}

}  // namespace punt
