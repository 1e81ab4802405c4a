#include "tasks/scorers.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "eval/task.h"
#include "punt/error.h"

namespace punt {
namespace {

TEST(Scorers, RowsSayWhatTheyAre) {
  std::set<std::string_view> names;
  for (const ScorerRow& row : Scorers()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(row.alias.empty() || names.insert(row.alias).second) << row.alias;
    for (std::string_view help : {row.summary, row.data_help, row.response_help})
      EXPECT_FALSE(help.empty()) << row.name;
    EXPECT_EQ(&FindScorer(row.name), &row);
    ASSERT_FALSE(row.figures.empty());
    EXPECT_EQ(row.figures[0].name, kCorrect);
    EXPECT_TRUE(row.figures[0].is_share);
    for (const ScoreFigure& figure : row.figures) EXPECT_FALSE(figure.help.empty()) << row.name << " " << figure.name;
  }
  EXPECT_EQ(&FindScorer("math500"), &FindScorer("math"));
  EXPECT_THROW(FindScorer("nobody"), Error);
  EXPECT_THROW(FindScorer(""), Error);
}

struct Fixture {
  const char* task;
  const char* data;
  ProgramOptions programs = {};
};

constexpr Fixture kFixtures[] = {
    {"gsm8k", R"({"question": "q", "answer": "#### 1"})"},
    {"math", R"({"problem": "p", "solution": "\\boxed{1}"})"},
    {"countdown", R"({"input": "1,2", "output": "3"})"},
    {"sudoku", "puzzle,solution\n3102200002100320,3142243142131324\n"},
    {"humaneval",
     R"({"task_id": "a/0", "prompt": "def one():\n", "entry_point": "one", "test": "def check(f):\n    assert f() == 1"})",
     {.sandboxed = false}},
    {"mbpp", R"({"task_id": 1, "text": "t", "test_list": ["assert one() == 1"]})", {.sandboxed = false}},
};

TEST(Scorers, EveryFigureIsAlwaysThereWhateverTheResponse) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  const std::string responses[] = {"",
                                   " ",
                                   bytes,
                                   std::string(50'000, '('),
                                   std::string(50'000, '$'),
                                   "\\boxed{",
                                   "<answer>",
                                   "Final Answer: The final answer is",
                                   "####  ",
                                   "=\n=",
                                   "\\frac\\frac\\sqrt",
                                   "\\begin{pmatrix}"};
  EXPECT_EQ(std::size(kFixtures) + 1, Scorers().size());  // ifeval wants files: ifeval_scorer_test
  for (const Fixture& fixture : kFixtures) {
    const ScorerRow& row = FindScorer(fixture.task);
    const auto scorer = row.make({fixture.data, fixture.programs});
    for (const std::string& response : responses) {
      const ScoreVerdict verdict = scorer->Judge(0, response);
      EXPECT_EQ(verdict.values.size(), row.figures.size()) << row.name;
      for (const ScoreFigure& figure : row.figures) {
        const double value = verdict.values.at(std::string(figure.name));
        EXPECT_EQ(value, 0) << row.name << " " << figure.name << " of " << response.substr(0, 20);
      }
    }
  }
}

}  // namespace
}  // namespace punt
