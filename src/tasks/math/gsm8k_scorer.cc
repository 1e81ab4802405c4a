// Scorer `gsm8k`: grade school mathematics with whole numbers for answers. gsm8k_answer.cc has the protocol.
#include <fmt/format.h>

#include "base/check.h"
#include "eval/task.h"
#include "report/json_records.h"
#include "tasks/math/gsm8k_answer.h"
#include "tasks/scorer_rows.h"

namespace punt {
namespace {

class Gsm8kScorer : public Scorer {
 public:
  explicit Gsm8kScorer(std::string_view data) {
    for (const JsonRecord& record : ParseJsonRecords(data)) {
      try {
        const std::string answer = TextMember(record.value, {"answer"});
        if (answer.find("#### ") == std::string::npos) BadInput("the answer has no '#### '");
        items_.push_back({.id = fmt::format("{}", items_.size()),
                          .prompt = TextMember(record.value, {"question"}),
                          .gold = Gsm8kNormal(answer)});
      } catch (const Error& error) {
        BadInput("{}: {}", record.place, error.what());
      }
    }
  }

  ScoreVerdict Judge(std::size_t index, std::string_view response) const override {
    const std::string& gold = items_[index].gold;
    const std::string flexible = FlexibleExtract(response);
    return {.extracted = flexible,
            .values = {{kCorrect, Gsm8kNormal(flexible) == gold ? 1 : 0},
                       {"strict_match", Gsm8kNormal(StrictMatch(response)) == gold ? 1 : 0}},
            .reason = ""};
  }
};

constexpr ScoreFigure kFigures[] = {
    {.name = "correct", .help = "flexible-extract: the last number of the response equals the answer"},
    {.name = "strict_match", .help = "strict-match: the number after the first \"#### \" does"},
};

}  // namespace

const ScorerRow kGsm8kScorer = {
    .name = "gsm8k",
    .alias = "",
    .summary = "grade school mathematics: the last number of the response",
    .data_help = "JSON lines with question and answer (\"... #### 18\"): test.jsonl of openai/grade-school-math",
    .response_help = "the last number anywhere; strict_match: the number after \"#### \"",
    .figures = kFigures,
    .make = [](const ScorerSetup& setup) -> std::unique_ptr<Scorer> {
      return std::make_unique<Gsm8kScorer>(setup.data);
    }};

}  // namespace punt
