#include "eval/score.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/ordered_loop.h"

namespace punt {

std::string ScoreLine(const ScoreRecord& record) {
  using Json = nlohmann::ordered_json;
  Json values = Json::object();
  for (const auto& [name, value] : record.verdict.values) {
    Check(std::isfinite(value), "a verdict that is no number");
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
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

ScoreSummary ScoreAll(const ScorerRow& row, const Scorer& scorer, const std::vector<ItemResponse>& responses,
                      const std::function<void(const ScoreRecord&)>& on_record, int jobs) {
  Check(!responses.empty(), "a summary of nothing");
  ScoreSummary summary{.items = responses.size(), .data_items = scorer.items().size()};
  std::vector<std::vector<double>> values(row.figures.size());
  const auto judge = [&](std::size_t i) { return scorer.Judge(responses[i].item, responses[i].response->text); };
  MakeInOrder(responses.size(), jobs, judge, [&](std::size_t i, ScoreVerdict verdict) {
    const ScoreItem& item = scorer.items()[responses[i].item];
    const ScoreRecord record{.id = item.id,
                             .prompt = item.prompt,
                             .response = responses[i].response->text,
                             .gold = item.gold,
                             .verdict = std::move(verdict)};
    on_record(record);
    for (std::size_t k = 0; k < row.figures.size(); ++k) {
      values[k].push_back(record.verdict.values.at(std::string(row.figures[k].name)));
    }
  });
  for (std::size_t i = 0; i < row.figures.size(); ++i) {
    double sum = 0;
    for (double value : values[i]) sum += value;
    const Estimate estimate = row.figures[i].is_share
                                  ? ShareOf(std::llround(sum), static_cast<std::int64_t>(values[i].size()))
                                  : MeanOf(values[i]);
    if (i == 0) summary.accuracy = estimate;
    if (i > 0) summary.figures.push_back(FigureOf(std::string(row.figures[i].name), estimate));
  }
  if (summary.items < summary.data_items) {
    summary.notes.push_back(fmt::format("{} of {} items have no response and are not counted",
                                        summary.data_items - summary.items, summary.data_items));
  }
  return summary;
}

}  // namespace punt
