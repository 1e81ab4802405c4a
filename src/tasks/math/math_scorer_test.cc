#include <gtest/gtest.h>

#include "eval/answer_marks.h"
#include "eval/task.h"
#include "punt/error.h"
#include "tasks/math/math_answer.h"
#include "tasks/scorer_rows.h"

namespace punt {
namespace {

TEST(AnswerMarks, BoxesTagsAndEnds) {
  EXPECT_EQ(LastBoxed("\\boxed{1} and \\boxed{\\frac{1}{2}}."), "\\frac{1}{2}");
  EXPECT_EQ(LastBoxed("\\boxed{1} and \\boxed{2"), "1");
  EXPECT_EQ(LastBoxed("$\\boxed 5$ ok"), "5");
  EXPECT_EQ(LastBoxed("\\fbox{x}"), "x");
  EXPECT_EQ(LastBoxed("no box"), std::nullopt);
  EXPECT_EQ(TaggedAnswer("<answer>1</answer> <answer> 2 </answer>"), "2");
  EXPECT_EQ(TaggedAnswer("<answer> cut"), "cut");
  EXPECT_EQ(TaggedAnswer("none"), std::nullopt);
  EXPECT_EQ(BeforeEnd("a<|endoftext|>b<|eot_id|>"), "a");
  EXPECT_EQ(CollapseSpace("  a \n\t b "), "a b");
  EXPECT_EQ(ReplaceAll("aaa", "aa", "b"), "ba");
}

TEST(MathAnswer, Minerva) {
  const std::string head = "So.\nFinal Answer: The final answer is";
  EXPECT_EQ(MinervaAnswer(head + " $5$. I hope it is correct."), "$5$");
  EXPECT_EQ(MinervaAnswer(head + " $5$. "), "$5$");
  EXPECT_EQ(MinervaAnswer(head + " $5$."), std::nullopt);
  EXPECT_EQ(MinervaAnswer(head + " $5$\n. I hope it is correct."), std::nullopt);
  EXPECT_EQ(MinervaAnswer(head + "\n" + head + " 7. I hope it is correct."), "7");
  EXPECT_EQ(MinervaAnswer("The answer is 5. I hope it is correct."), std::nullopt);
}

TEST(MathAnswer, HendrycksAndLenient) {
  EXPECT_EQ(HendrycksAnswer("it is $x$ or $y$."), "x$ or $y");
  EXPECT_EQ(HendrycksAnswer("5"), "5");
  EXPECT_EQ(HendrycksAnswer("costs $5"), "costs $5");
  EXPECT_EQ(LenientMathAnswer("Final Answer: The final answer is $5$. I hope it is correct."), "5");
  EXPECT_EQ(LenientMathAnswer("Thus \\boxed{ 7 }, the answer is 8"), "7");
  EXPECT_EQ(LenientMathAnswer("<answer>$9$</answer>"), "9");
  EXPECT_EQ(LenientMathAnswer("The answer is: $\\frac12$.\nBye"), "\\frac12");
  EXPECT_EQ(LenientMathAnswer("I do not know"), std::nullopt);
}

TEST(MathScorer, ReadsThreeFormats) {
  const auto scorer = kMathScorer.make({
      R"x({"problem": "p", "solution": "so \\boxed{\\frac{1}{2}}"}
{"problem": "q", "solution": "\\boxed{9}", "answer": "3", "unique_id": "test/1.json"}
{"question": "r", "answer": "thus \\boxed{4}.The answer is: 4"})x"});
  ASSERT_EQ(scorer->items().size(), 3u);
  EXPECT_EQ(scorer->items()[0].gold, "\\frac{1}{2}");
  EXPECT_EQ(scorer->items()[1].gold, "3");
  EXPECT_EQ(scorer->items()[1].id, "test/1.json");
  EXPECT_EQ(scorer->items()[2].gold, "4");
  EXPECT_EQ(scorer->items()[2].id, "2");
  EXPECT_THROW(kMathScorer.make({R"({"problem": "p", "solution": "no box"})"}), Error);
}

TEST(MathScorer, Judges) {
  const auto scorer = kMathScorer.make({R"({"problem": "p", "solution": "\\boxed{\\frac{1}{2}}"})"});
  ScoreVerdict verdict = scorer->Judge(0, "We get \\boxed{0.50}.");
  EXPECT_EQ(verdict.values.at(kCorrect), 1);
  EXPECT_EQ(verdict.values.at("minerva"), 0);
  EXPECT_EQ(verdict.reason, "number");
  verdict = scorer->Judge(0, "Final Answer: The final answer is $\\frac12$. I hope it is correct.");
  EXPECT_EQ(verdict.values.at(kCorrect), 1);
  EXPECT_EQ(verdict.values.at("minerva"), 1);
  EXPECT_EQ(verdict.values.at("hendrycks"), 1);
  verdict = scorer->Judge(0, "the answer is 2");
  EXPECT_EQ(verdict.values.at(kCorrect), 0);
  EXPECT_EQ(verdict.extracted, "2");
  EXPECT_EQ(scorer->Judge(0, "").reason, "no answer");
}

}  // namespace
}  // namespace punt
