#include "eval/score.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/check.h"
#include "base/json_text.h"
#include "base/ordered_loop.h"

namespace punt {
namespace {

std::vector<double> ValuesOf(std::span<const Measurement> verdicts, std::string_view name) {
  std::vector<double> values;
  for (const Measurement& verdict : verdicts) values.push_back(verdict.at(std::string(name)));
  return values;
}

}  // namespace

std::string ScoreLine(const ScoreRecord& record) {
  using Json = nlohmann::ordered_json;
  Json values = Json::object();
  for (const auto& [name, value] : record.verdict.values) {
    Check(std::isfinite(value), "a verdict that is not a number");
    values[name] = value;
  }
  const Json object = {{"id", record.id},
                       {kCorrect, record.verdict.values.at(kCorrect) != 0},
                       {"extracted", record.verdict.extracted},
                       {"gold", record.gold},
                       {"reason", record.verdict.reason},
                       {"verdict", values},
                       {"prompt", record.prompt},
                       {"response", record.response}};
  return Dump(object);
}

std::vector<Figure> FiguresOf(const ScorerRow& row, std::span<const Measurement> verdicts) {
  Check(!verdicts.empty(), "figures of nothing");
  std::vector<Figure> figures;
  for (const ScoreFigure& figure : row.figures) {
    const std::vector<double> values = ValuesOf(verdicts, figure.name);
    Estimate estimate;
    if (!figure.over.empty()) {
      estimate = RatioOf(values, ValuesOf(verdicts, figure.over), kShares);
    } else if (figure.is_share) {
      const double sum = std::accumulate(values.begin(), values.end(), 0.0);
      estimate = ShareOf(std::llround(sum), static_cast<std::int64_t>(values.size()));
    } else {
      estimate = MeanOf(values, kShares);
    }
    figures.push_back(FigureOf(std::string(figure.name), estimate));
  }
  return figures;
}

ScoreSummary ScoreAll(const ScorerRow& row, const Scorer& scorer, const std::vector<ItemResponse>& responses,
                      const std::function<void(const ScoreRecord&)>& on_record, int jobs) {
  Check(!responses.empty(), "a summary of nothing");
  ScoreSummary summary{.items = responses.size(), .data_items = scorer.items().size()};
  std::vector<Measurement> verdicts;
  const auto judge = [&](std::size_t i) { return scorer.Judge(responses[i].item, responses[i].response->text); };
  MakeInOrder(responses.size(), jobs, judge, [&](std::size_t i, ScoreVerdict verdict) {
    const ScoreItem& item = scorer.items()[responses[i].item];
    const ScoreRecord record{.id = item.id,
                             .prompt = item.prompt,
                             .response = responses[i].response->text,
                             .gold = item.gold,
                             .verdict = std::move(verdict)};
    on_record(record);
    verdicts.push_back(record.verdict.values);
  });
  summary.figures = FiguresOf(row, verdicts);
  const Figure& correct = summary.figures.front();
  summary.accuracy = {.value = correct.value, .ci95 = correct.ci95};
  summary.figures.erase(summary.figures.begin());
  if (summary.items < summary.data_items) {
    summary.notes.push_back(fmt::format("{} of {} items have no response and are not counted",
                                        summary.data_items - summary.items, summary.data_items));
  }
  return summary;
}

}  // namespace punt
