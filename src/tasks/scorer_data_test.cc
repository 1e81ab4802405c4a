// Scorers on public data and on verdicts that others stored for real outputs. The files are not shipped: without them
// (base/test_data_testing.h) the tests are skipped.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/test_data_testing.h"
#include "eval/answer_marks.h"
#include "eval/score.h"
#include "report/data_file.h"
#include "report/json_records.h"
#include "tasks/math/countdown_expression.h"
#include "tasks/math/gsm8k_answer.h"
#include "tasks/math/math_equivalence.h"
#include "tasks/scorers.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;
using testing::TestData;

std::vector<JsonRecord> ReadRecords(const std::string& name) {
  return ParseJsonRecords(ReadDataFile(TestData(name).string()));
}

std::unique_ptr<Scorer> ScorerOf(const std::string& task, const std::string& name) {
  return MakeScorer(FindScorer(task), TestData(name).string());
}

bool IsCorrect(const ScoreVerdict& verdict) { return verdict.values.at(kCorrect) != 0; }

/// How many stored verdicts a scorer reproduces.
struct Agreement {
  int rows = 0;
  int extracted = 0;
  int correct = 0;  // stored as such
  int agree = 0;

  void Count(bool same_extract, bool stored, bool ours) {
    ++rows;
    extracted += same_extract ? 1 : 0;
    correct += stored ? 1 : 0;
    agree += stored == ours ? 1 : 0;
  }
};

// The stored rows hold what was extracted from an output, not the output itself: what was extracted must be extracted
// from again, and be judged as stored.
TEST(ScorerData, Gsm8kVerdictsOnTheOutputsOfFourModels) {
  const std::string file = "gsm8k/example_model_solutions_flexible.jsonl";
  REQUIRE_TEST_DATA(file, "gsm8k/test.jsonl");
  const auto scorer = ScorerOf("gsm8k", "gsm8k/test.jsonl");
  Agreement agreement;
  for (const JsonRecord& row : ReadRecords(file)) {
    const auto extract = row.value.at("flexible_extract").get<std::string>();
    const ScoreVerdict verdict = scorer->Judge(row.value.at("index").get<std::size_t>(), extract);
    agreement.Count(verdict.extracted == extract, row.value.at("flexible_correct").get<bool>(), IsCorrect(verdict));
    EXPECT_EQ(row.value.at("is_correct"), IsCorrect(verdict)) << row.place;
  }
  EXPECT_EQ(agreement.rows, 5276);
  EXPECT_EQ(agreement.extracted, 5276);
  EXPECT_EQ(agreement.agree, 5276);
  EXPECT_EQ(agreement.correct, 2001);
}

// The reference is a number here, so an index is not needed; six rows have none, because their answer is negative. The
// test set has two such answers, -10 and -3, and a row counts as correct if it is one of them.
TEST(ScorerData, Gsm8kVerdictsOnTheGenerationsOfLlada) {
  const std::string file = "llada_generations/gsm8k_verdicts.jsonl";
  REQUIRE_TEST_DATA(file);
  Agreement flexible;
  Agreement strict;
  int without_reference = 0;
  for (const JsonRecord& row : ReadRecords(file)) {
    const Json& truth = row.value.at("ground_truth");
    const auto extract = row.value.at("flexible_extract").get<std::string>();
    const auto matched = row.value.at("strict_match").get<std::string>();
    without_reference += truth.is_null() ? 1 : 0;
    const auto is_right = [&](const std::string& answer) {
      const std::string normal = Gsm8kNormal(answer);
      if (truth.is_null()) return normal == "-10" || normal == "-3";
      return normal == fmt::format("{:.0f}", truth.get<double>());
    };
    flexible.Count(FlexibleExtract(extract) == extract, row.value.at("flexible_correct").get<bool>(),
                   is_right(FlexibleExtract(extract)));
    strict.Count(StrictMatch(matched) == matched, row.value.at("strict_correct").get<bool>(),
                 is_right(StrictMatch(matched)));
  }
  EXPECT_EQ(flexible.rows, 3390);
  EXPECT_EQ(flexible.extracted, 3390);
  EXPECT_EQ(flexible.agree, 3390);
  EXPECT_EQ(flexible.correct, 790 + 874 + 871);
  EXPECT_EQ(strict.extracted, 3390);  // all of them "[invalid]"
  EXPECT_EQ(strict.agree, 3390);
  EXPECT_EQ(without_reference, 6);
}

TEST(ScorerData, Gsm8kSampleLogsAreReproduced) {
  const std::vector<std::string> files = {
      "gsm8k/lm_eval_logs/Data-Science-Thesis_samples_gsm8k_2025-08-11T20-51-25.059120.jsonl",
      "gsm8k/lm_eval_logs/pyFade_samples_gsm8k_2025-09-09T13-31-53.431753.jsonl",
      "gsm8k/lm_eval_logs/pyFade_samples_gsm8k_2025-09-09T13-42-42.857006.jsonl"};
  REQUIRE_TEST_DATA("gsm8k/test.jsonl", files[0], files[1], files[2]);
  const auto scorer = ScorerOf("gsm8k", "gsm8k/test.jsonl");
  int rows = 0;
  for (const std::string& file : files) {
    const std::string text = ReadDataFile(TestData(file).string());
    const std::vector<JsonRecord> records = ParseJsonRecords(text);
    const std::vector<GivenResponse> responses = ParseResponses(text);
    ASSERT_EQ(records.size(), responses.size());
    EXPECT_FALSE(MatchResponses(*scorer, responses).empty());  // numbers and questions belong together
    for (std::size_t i = 0; i < records.size(); ++i, ++rows) {
      const Json& row = records[i].value;
      const bool is_strict = row.at("filter") == "strict-match";
      const ScoreVerdict verdict = scorer->Judge(row.at("doc_id").get<std::size_t>(), responses[i].text);
      EXPECT_EQ(row.at("filtered_resps")[0], is_strict ? StrictMatch(responses[i].text) : verdict.extracted);
      EXPECT_EQ(row.at("exact_match"), verdict.values.at(is_strict ? "strict_match" : kCorrect)) << file;
    }
  }
  EXPECT_EQ(rows, 8);
}

TEST(ScorerData, Gsm8kSolutionsAnswerThemselves) {
  REQUIRE_TEST_DATA("gsm8k/test.jsonl", "gsm8k/train.jsonl");
  for (const auto& [file, count] : {std::pair{"gsm8k/test.jsonl", 1319}, std::pair{"gsm8k/train.jsonl", 7473}}) {
    const auto scorer = ScorerOf("gsm8k", file);
    int flexible = 0;
    int strict = 0;
    std::size_t item = 0;
    for (const JsonRecord& row : ReadRecords(file)) {
      const ScoreVerdict verdict = scorer->Judge(item++, row.value.at("answer").get<std::string>());
      flexible += IsCorrect(verdict) ? 1 : 0;
      strict += verdict.values.at("strict_match") != 0 ? 1 : 0;
    }
    EXPECT_EQ(flexible, count);
    EXPECT_EQ(strict, count);
  }
}

TEST(ScorerData, MathSolutionsAnswerThemselves) {
  const std::string file = "math/test.json";
  REQUIRE_TEST_DATA(file);
  const auto scorer = ScorerOf("math", file);
  ASSERT_EQ(scorer->items().size(), 5000u);
  int correct = 0;
  int minerva = 0;
  std::size_t item = 0;
  for (const JsonRecord& row : ReadRecords(file)) {
    correct += IsCorrect(scorer->Judge(item, row.value.at("solution").get<std::string>())) ? 1 : 0;
    const std::string phrase =
        "Final Answer: The final answer is $" + scorer->items()[item].gold + "$. I hope it is correct.";
    minerva += scorer->Judge(item, phrase).values.at("minerva") != 0 ? 1 : 0;
    ++item;
  }
  EXPECT_EQ(correct, 5000);
  RecordProperty("minerva", minerva);
  EXPECT_GE(minerva, 4990);  // a dollar sign or a line break within an answer defeats the phrase
}

/// Other spellings of an answer that mean the same.
std::vector<std::string> Variants(const std::string& gold) {
  std::vector<std::string> variants = {gold,
                                       " " + gold + " ",
                                       "$" + gold + "$",
                                       ReplaceAll(gold, "\\frac", "\\dfrac"),
                                       ReplaceAll(gold, "\\frac", "\\tfrac"),
                                       ReplaceAll(ReplaceAll(gold, "\\left", ""), "\\right", "")};
  if (gold.find("\\text") == std::string::npos && gold.find("\\sqrt2") == std::string::npos) {
    variants.push_back(ReplaceAll(gold, ",", ", "));
  }
  if (const auto value = NumberValue(gold)) {
    variants.push_back(fmt::format("{}/{}", value->numerator, value->denominator));
    variants.push_back(fmt::format("\\frac{{{}}}{{{}}}", 3 * value->numerator, 3 * value->denominator));
    if (value->denominator == 1) variants.push_back(fmt::format("{}.00", value->numerator));
  }
  return variants;
}

TEST(ScorerData, Math500AnswersEqualTheirVariantsAndNoOther) {
  const std::string file = "math/math500.jsonl";
  REQUIRE_TEST_DATA(file);
  const auto scorer = ScorerOf("math500", file);
  ASSERT_EQ(scorer->items().size(), 500u);
  int variants = 0;
  int numbers = 0;
  for (std::size_t i = 0; i < 500; ++i) {
    const std::string& gold = scorer->items()[i].gold;
    numbers += NumberValue(gold) ? 1 : 0;
    for (const std::string& variant : Variants(gold)) {
      ++variants;
      EXPECT_TRUE(IsCorrect(scorer->Judge(i, "\\boxed{" + variant + "}"))) << gold << " as " << variant;
    }
    // One more than the answer is not the answer.
    if (const auto value = NumberValue(gold)) {
      const std::string wrong = fmt::format("{}/{}", value->numerator + value->denominator, value->denominator);
      EXPECT_FALSE(IsCorrect(scorer->Judge(i, "\\boxed{" + wrong + "}"))) << gold;
    }
  }
  RecordProperty("variants", variants);
  RecordProperty("numbers", numbers);
  EXPECT_GT(variants, 3500);
  EXPECT_GT(numbers, 300);
}

/// Both data sets have the same problems: the answers that they name must be the same.
TEST(ScorerData, MathAndMath500AgreeOnAnswers) {
  REQUIRE_TEST_DATA("math/math500.jsonl", "math/test.json");
  const auto few = ScorerOf("math", "math/math500.jsonl");
  const auto all = ScorerOf("math", "math/test.json");
  std::map<std::string, std::string> by_question;
  for (const ScoreItem& item : all->items())
    by_question[ReplaceAll(all->QuestionKey(item.prompt), " ", "")] = item.gold;
  int found = 0;
  for (const ScoreItem& item : few->items()) {
    const auto other = by_question.find(ReplaceAll(few->QuestionKey(item.prompt), " ", ""));
    if (other == by_question.end()) continue;
    ++found;
    EXPECT_NE(EquivalenceRule(item.gold, other->second), "") << item.gold << " and " << other->second;
  }
  EXPECT_EQ(found, 500);
}

/// All expressions over all numbers, by trying every operator on every pair: the first that reaches the target.
std::optional<std::string> SolveCountdown(const std::vector<std::pair<Rational, std::string>>& numbers,
                                          const Rational& target) {
  if (numbers.size() == 1) return numbers[0].first == target ? std::optional(numbers[0].second) : std::nullopt;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    for (std::size_t j = 0; j < numbers.size(); ++j) {
      if (i == j) continue;
      for (char op : {'+', '-', '*', '/'}) {
        const auto& [a, left] = numbers[i];
        const auto& [b, right] = numbers[j];
        const auto value = op == '+'   ? Add(a, b)
                           : op == '-' ? Subtract(a, b)
                           : op == '*' ? Multiply(a, b)
                                       : Divide(a, b);
        if (!value) continue;
        std::vector<std::pair<Rational, std::string>> rest = {{*value, fmt::format("({} {} {})", left, op, right)}};
        for (std::size_t k = 0; k < numbers.size(); ++k) {
          if (k != i && k != j) rest.push_back(numbers[k]);
        }
        if (const auto found = SolveCountdown(rest, target)) return found;
      }
    }
  }
  return std::nullopt;
}

TEST(ScorerData, EveryCountdownPuzzleHasASolutionThatCounts) {
  const std::string file = "llada_generations/countdown_cd3_test.jsonl";
  REQUIRE_TEST_DATA(file);
  const auto scorer = ScorerOf("countdown", file);
  ASSERT_EQ(scorer->items().size(), 256u);
  int solved = 0;
  std::size_t item = 0;
  for (const JsonRecord& row : ReadRecords(file)) {
    const auto input = row.value.at("input").get<std::string>();
    std::vector<std::pair<Rational, std::string>> numbers;
    const std::string lines = ReplaceAll(input, ",", "\n");
    for (std::string_view number : SplitLines(lines)) {
      numbers.emplace_back(*ParseDecimal(number), std::string(number));
    }
    const auto target = *ParseDecimal(row.value.at("output").get<std::string>());
    const auto solution = SolveCountdown(numbers, target);
    ASSERT_TRUE(solution) << input;
    solved += IsCorrect(scorer->Judge(item, "<answer>" + *solution + "</answer>")) ? 1 : 0;
    EXPECT_FALSE(IsCorrect(scorer->Judge(item, "<answer>" + *solution + " + 1</answer>")));
    EXPECT_FALSE(
        IsCorrect(scorer->Judge(item, fmt::format("<answer>{}</answer>", row.value.at("output").get<std::string>()))));
    ++item;
  }
  EXPECT_EQ(solved, 256);
}

TEST(ScorerData, SudokuBoardsOfFourRows) {
  const std::string file = "llada_generations/4x4_test_sudoku.csv";
  REQUIRE_TEST_DATA(file);
  const auto scorer = ScorerOf("sudoku", file);
  ASSERT_EQ(scorer->items().size(), 500u);
  for (std::size_t i = 0; i < 500; ++i) {
    const ScoreItem& item = scorer->items()[i];
    EXPECT_TRUE(IsCorrect(scorer->Judge(i, "<answer>\n" + item.gold + "\n</answer>"))) << i;
    EXPECT_FALSE(IsCorrect(scorer->Judge(i, item.prompt))) << i;
    std::string swapped = item.gold;
    std::swap(swapped[0], swapped[1]);
    EXPECT_FALSE(IsCorrect(scorer->Judge(i, swapped))) << i;
  }
}

}  // namespace
}  // namespace punt
