#include "eval/benchmark.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "base/check.h"
#include "base/setting_error.h"
#include "eval/answer_marks.h"
#include "eval/continuation.h"
#include "eval/score.h"
#include "eval/stream.h"
#include "report/data_file.h"
#include "report/json_records.h"

namespace punt {
namespace {

/// What an item asks a model.
const std::string& AskedBy(const ScoreItem& item) { return item.asked.empty() ? item.prompt : item.asked; }

/// An id that is a number; 0 if it is not.
std::int64_t NumberOf(const std::string& id) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), number);
  return error == std::errc() && end == id.data() + id.size() ? number : 0;
}

std::vector<Shot> ShotsOfItems(const BenchmarkRow& row, const std::string& path) {
  std::vector<Shot> shots;
  const std::unique_ptr<Scorer> scorer = MakeScorer(*row.scorer, path);
  for (const ScoreItem& item : scorer->items()) {
    if (NumberOf(item.id) >= row.first_shot) shots.push_back({.question = AskedBy(item), .answer = item.gold});
  }
  return shots;
}

std::vector<Shot> ReadShots(const BenchmarkRow& row, const std::string& path) {
  if (row.shot_question.empty()) return ShotsOfItems(row, path);
  std::vector<Shot> shots;
  const std::string text = ReadDataFile(path);
  try {
    for (const JsonRecord& record : ParseJsonRecords(text)) {
      try {
        shots.push_back({.question = TextMember(record.value, {std::string(row.shot_question)}),
                         .answer = TextMember(record.value, {std::string(row.shot_answer)})});
      } catch (const Error& error) {
        BadInput("{}: {}", record.place, error.what());
      }
    }
  } catch (const Error& error) {
    BadInput("{}: {}", path, error.what());
  }
  return shots;
}

class BenchmarkTask : public Task {
 public:
  BenchmarkTask(const BenchmarkRow& row, const Params& params, const TaskSetup& setup)
      : row_(row),
        setup_(setup),
        scorer_row_(*row.scorer),
        chat_(params.Boolean("chat")),
        shot_count_(static_cast<std::size_t>(params.Integer("shots"))) {
    if (setup.data.empty()) BadSetting("data", "the data is missing: {}", scorer_row_.data_help);
    scorer_ = MakeScorer(scorer_row_, setup.data);
    for (std::size_t i = 0; i < scorer_->items().size(); ++i) {
      const std::int64_t number = NumberOf(scorer_->items()[i].id);
      if (row.last_item == 0 || (number >= row.first_item && number <= row.last_item)) asked_.push_back(i);
    }
    if (asked_.empty()) {
      BadInput("{}: no items with ids from {} to {}, which are the test's", setup.data, row.first_item, row.last_item);
    }
    if (setup_.shots.empty() && row.shot_question.empty()) setup_.shots = setup.data;
    if (shot_count_ > 0 && setup_.shots.empty()) {
      BadSetting("shots", "worked examples are missing, in the format of the data; or give the task shots=0");
    }
    if (shot_count_ > 0) shots_ = ReadShots(row, setup_.shots);
    if (shots_.size() < shot_count_) {
      BadInput("{}: {} worked examples, {} are asked for", setup_.shots, shots_.size(), shot_count_);
    }
  }

  std::size_t size() const override { return asked_.size(); }
  std::size_t usual_count() const override { return size(); }

  EvalItem Item(std::size_t index) const override {
    const ScoreItem& given = scorer_->items()[asked_[index]];
    EvalItem item{.id = given.id,
                  .prompt = BenchmarkPrompt(row_, AskedBy(given), ShotsOf(index)),
                  .canvas = {},
                  .reference = given.gold};
    item.canvas = ContinuationCanvas(
        *setup_.model,
        {.id = item.id, .prompt = item.prompt, .chat = chat_, .length = setup_.length.value_or(row_.usual_length)});
    return item;
  }

  std::string ResponseText(const EvalItem& item, std::span<const Token> tokens) const override {
    const std::string text = setup_.model->tokenizer->DecodeText(Continuation(*setup_.model, item.canvas, tokens));
    return std::string(BeforeStops(text, row_.stops));
  }

  Measurement Judge(std::size_t index, const EvalItem& item, const EvalResponse& response) override {
    Measurement verdict = scorer_->Judge(asked_[index], response.text).values;
    verdict["length"] = static_cast<double>(Continuation(*setup_.model, item.canvas, response.tokens).size());
    return verdict;
  }

  std::vector<Figure> Summarise(std::span<const EvalRecord> records) const override {
    std::vector<Measurement> verdicts;
    std::vector<double> lengths;
    for (const EvalRecord& record : records) {
      verdicts.push_back(record.verdict);
      lengths.push_back(record.verdict.at("length"));
    }
    std::vector<Figure> figures = FiguresOf(scorer_row_, verdicts);
    figures.erase(figures.begin());  // the accuracy
    figures.push_back(FigureOf("length_mean", MeanOf(lengths, kNotNegative)));
    return figures;
  }

 private:
  std::vector<Shot> ShotsOf(std::size_t index) const {
    std::vector<std::size_t> order(shots_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    RandomStream random = EvalStream("shots", setup_.seed, index);
    if (row_.draws_shots) Shuffle(std::span(order), random);
    std::vector<Shot> chosen;
    for (std::size_t i = 0; i < shot_count_; ++i) chosen.push_back(shots_[order[i]]);
    return chosen;
  }

  const BenchmarkRow& row_;
  TaskSetup setup_;
  const ScorerRow& scorer_row_;
  bool chat_;
  std::size_t shot_count_;
  std::unique_ptr<Scorer> scorer_;
  std::vector<Shot> shots_;
  std::vector<std::size_t> asked_;  // items
};

}  // namespace

ParamRow ShotsParam(std::string_view default_count) {
  return {.key = "shots",
          .kind = ParamKind::kInteger,
          .default_value = default_count,
          .help = "worked examples in the prompt",
          .min = 0,
          .max = 64};
}

ParamRow ChatParam(std::string_view default_value) {
  return {.key = "chat",
          .kind = ParamKind::kBoolean,
          .default_value = default_value,
          .help = "the prompt is a user's message in the model's chat template"};
}

std::string BenchmarkPrompt(const BenchmarkRow& row, std::string_view question, std::span<const Shot> shots) {
  std::string prompt;
  for (const Shot& shot : shots) {
    prompt +=
        fmt::format("{}{}{}{}{}{}\n\n", row.before, shot.question, row.between, row.space, shot.answer, row.answer_end);
  }
  return prompt + fmt::format("{}{}{}", row.before, question, row.between);
}

std::unique_ptr<Task> MakeBenchmark(const BenchmarkRow& row, const Params& params, const TaskSetup& setup) {
  return std::make_unique<BenchmarkTask>(row, params, setup);
}

}  // namespace punt
