// Scorer `math`: competition problems with answers in LaTeX (MATH, MATH-500). How answers are found: math_answer.cc;
// when two are the same: math_equivalence.cc.
#include <fmt/format.h>

#include "base/check.h"
#include "eval/task.h"
#include "report/json_records.h"
#include "tasks/math/math_answer.h"
#include "tasks/math/math_equivalence.h"
#include "tasks/math/math_normal.h"
#include "tasks/scorer_rows.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

/// The answer that a record names, or else that of its solution.
std::string GoldOf(const Json& record) {
  const std::string text = TextMember(record, {"answer", "solution"});
  if (const auto found = ReferenceAnswer(text)) return *found;
  if (record.contains("answer")) return text;
  BadInput("the solution has no \\boxed answer");
}

class MathScorer : public Scorer {
 public:
  explicit MathScorer(std::string_view data) {
    for (const JsonRecord& record : ParseJsonRecords(data)) {
      try {
        std::string id = IdMember(record.value, "unique_id");
        if (id.empty()) id = fmt::format("{}", items_.size());
        items_.push_back({.id = std::move(id),
                          .prompt = TextMember(record.value, {"problem", "question"}),
                          .gold = GoldOf(record.value)});
      } catch (const Error& error) {
        BadInput("{}: {}", record.place, error.what());
      }
    }
  }

  ScoreVerdict Judge(std::size_t index, std::string_view response) const override {
    const std::string& gold = items_[index].gold;
    const auto lenient = LenientMathAnswer(response);
    const auto minerva = MinervaAnswer(response);
    const std::string_view rule = lenient ? EquivalenceRule(*lenient, gold) : "";
    const bool is_minerva = minerva && LewkowyczNormal(*minerva) == LewkowyczNormal(gold);
    const bool is_hendrycks = HendrycksNormal(HendrycksAnswer(response)) == HendrycksNormal(gold);
    return {.extracted = lenient.value_or(kNoAnswer),
            .values = {{kCorrect, rule.empty() ? 0 : 1},
                       {"minerva", is_minerva ? 1 : 0},
                       {"hendrycks", is_hendrycks ? 1 : 0}},
            .reason = lenient ? std::string(rule) : "no answer"};
  }
};

constexpr ScoreFigure kFigures[] = {
    {.name = "correct", .help = "lenient extraction, equal by any exact rule"},
    {.name = "minerva", .help = "Minerva's phrase, equal after Lewkowycz normalisation (strings; no algebra)"},
    {.name = "hendrycks", .help = "between the first and last dollar sign, equal after Hendrycks normalisation"},
};

}  // namespace

const ScorerRow kMathScorer = {
    .name = "math",
    .alias = "math500",
    .summary = "competition mathematics with answers in LaTeX: MATH and MATH-500",
    .data_help =
        "JSON lines with problem and solution (hendrycks/math), with answer besides (MATH-500), or with question "
        "and answer (\"... The answer is: X\")",
    .response_help = "Minerva's phrase, else the last \\boxed{}, else <answer>, else after \"answer is\"",
    .figures = kFigures,
    .make = [](const ScorerSetup& setup) -> std::unique_ptr<Scorer> {
      return std::make_unique<MathScorer>(setup.data);
    }};

}  // namespace punt
