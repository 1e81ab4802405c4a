// Scorer `countdown`: an expression that uses every given number once and reaches the target. Any such expression is
// correct; countdown_expression.cc says what an expression is.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"
#include "base/json_text.h"
#include "base/trim.h"
#include "eval/task.h"
#include "report/json_records.h"
#include "tasks/math/countdown_expression.h"
#include "tasks/scorer_rows.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

struct Puzzle {
  std::vector<std::int64_t> numbers;  // sorted
  std::int64_t target = 0;
};

std::int64_t WholeNumber(std::string_view text) {
  const auto value = ParseDecimal(Trim(text));
  if (!value || value->denominator != 1) BadInput("'{}' is not a whole number", text);
  return value->numerator;
}

/// "30,100,93".
std::vector<std::int64_t> NumberList(std::string_view text) {
  std::vector<std::int64_t> numbers;
  for (;;) {
    const std::size_t comma = text.find(',');
    numbers.push_back(WholeNumber(text.substr(0, comma)));
    if (comma == std::string_view::npos) return numbers;
    text.remove_prefix(comma + 1);
  }
}

/// {"input": "30,100,93", "output": "23"} or {"nums": [30, 100, 93], "target": 23}.
Puzzle ReadPuzzle(const Json& object) {
  if (object.contains("input")) {
    return {NumberList(TextMember(object, {"input"})), WholeNumber(TextMember(object, {"output"}))};
  }
  Puzzle puzzle;
  if (!object.contains("nums") || !object["nums"].is_array()) BadInput("neither input and output nor nums and target");
  for (const Json& number : object["nums"]) puzzle.numbers.push_back(WholeNumber(Dump(number)));
  puzzle.target = WholeNumber(IdMember(object, "target"));
  return puzzle;
}

class CountdownScorer : public Scorer {
 public:
  explicit CountdownScorer(std::string_view data) {
    for (const JsonRecord& record : ParseJsonRecords(data)) {
      try {
        Puzzle puzzle = ReadPuzzle(record.value);
        items_.push_back(
            {.id = fmt::format("{}", items_.size()),
             .prompt = fmt::format("Numbers: [{}]\nTarget: {}", fmt::join(puzzle.numbers, ", "), puzzle.target),
             .gold = fmt::format("{}", puzzle.target)});
        std::sort(puzzle.numbers.begin(), puzzle.numbers.end());
        puzzles_.push_back(std::move(puzzle));
      } catch (const Error& error) {
        BadInput("{}: {}", record.place, error.what());
      }
    }
  }

  ScoreVerdict Judge(std::size_t index, std::string_view response) const override {
    const Puzzle& puzzle = puzzles_[index];
    const auto expression = ExtractExpression(response);
    const auto result = expression ? EvaluateExpression(*expression) : std::nullopt;
    if (!result) return Verdict(expression.value_or(kNoAnswer), false, false, "no expression");
    std::vector<std::int64_t> used = result->numbers;
    std::sort(used.begin(), used.end());
    const bool uses = used == puzzle.numbers;
    const bool reaches = result->value == Rational{puzzle.target, 1};
    return Verdict(*expression, uses, reaches, !uses ? "other numbers" : reaches ? "" : "another value");
  }

  /// All whole numbers in order, so that any phrasing of the same puzzle is found.
  std::string QuestionKey(std::string_view question) const override {
    std::string key;
    for (std::size_t i = 0; i < question.size(); ++i) {
      const bool is_digit = question[i] >= '0' && question[i] <= '9';
      if (is_digit) key += question[i];
      if (!is_digit && !key.empty() && key.back() != ' ') key += ' ';
    }
    return std::string(Trim(key));
  }

 private:
  static ScoreVerdict Verdict(std::string extracted, bool uses, bool reaches, std::string reason) {
    return {.extracted = std::move(extracted),
            .values = {{kCorrect, uses && reaches ? 1 : 0},
                       {"uses_numbers", uses ? 1 : 0},
                       {"reaches_target", reaches ? 1 : 0}},
            .reason = std::move(reason)};
  }

  std::vector<Puzzle> puzzles_;
};

constexpr ScoreFigure kFigures[] = {
    {.name = "correct", .help = "an expression that uses every given number once and has the target's value, exactly"},
    {.name = "uses_numbers", .help = "it uses every given number once"},
    {.name = "reaches_target", .help = "it has the target's value"},
};

}  // namespace

const ScorerRow kCountdownScorer = {
    .name = "countdown",
    .alias = "",
    .summary = "reach a target with given numbers, each used once",
    .data_help =
        "JSON lines with input \"30,100,93\" and output \"23\" (countdown_cd3_test.jsonl of dllm-reasoning/d1), or "
        "with nums and target (Countdown-Tasks-3to4)",
    .response_help = "between <answer> and </answer>, else in \\boxed{}, else the last line with an expression",
    .figures = kFigures,
    .make = [](const ScorerSetup& setup) -> std::unique_ptr<Scorer> {
      return std::make_unique<CountdownScorer>(setup.data);
    }};

}  // namespace punt
