#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "eval/task.h"
#include "punt/error.h"
#include "punt/random.h"
#include "tasks/math/countdown_expression.h"
#include "tasks/scorer_rows.h"

namespace punt {
namespace {

/// A random expression with its value in floating point; small enough for both to agree.
struct Sample {
  std::string text;
  double value = 0;
};

Sample RandomExpression(RandomStream& random, int depth) {
  if (depth == 0 || random.Below(4) == 0) {
    const auto number = static_cast<int>(random.Below(20)) + 1;
    return {fmt::format("{}", number), static_cast<double>(number)};
  }
  const Sample a = RandomExpression(random, depth - 1);
  const Sample b = RandomExpression(random, depth - 1);
  switch (random.Below(4)) {
    case 0:
      return {"(" + a.text + "+" + b.text + ")", a.value + b.value};
    case 1:
      return {"(" + a.text + " - " + b.text + ")", a.value - b.value};
    case 2:
      return {"(" + a.text + "*" + b.text + ")", a.value * b.value};
    default:
      return {"(" + a.text + " / " + b.text + ")", a.value / b.value};
  }
}

TEST(Countdown, ExpressionsHaveTheirValues) {
  RandomStream random(7);
  int seen = 0;
  for (int i = 0; i < 2000; ++i) {
    const Sample sample = RandomExpression(random, 3);
    const auto result = EvaluateExpression(sample.text);
    if (!result) {
      EXPECT_FALSE(std::isfinite(sample.value) && std::abs(sample.value) < 1e6) << sample.text;
      continue;
    }
    ++seen;
    const double value = static_cast<double>(result->value.numerator) / static_cast<double>(result->value.denominator);
    EXPECT_NEAR(value, sample.value, 1e-9 * (1 + std::abs(sample.value))) << sample.text;
  }
  EXPECT_GT(seen, 1500);
}

TEST(Countdown, PrecedenceAndSigns) {
  const auto value = [](const char* text) { return EvaluateExpression(text)->value; };
  EXPECT_EQ(value("1 + 2 * 3"), (Rational{7, 1}));
  EXPECT_EQ(value("10 - 4 - 3"), (Rational{3, 1}));
  EXPECT_EQ(value("12 / 4 / 3"), (Rational{1, 1}));
  EXPECT_EQ(value("7 / 2 * 4"), (Rational{14, 1}));
  EXPECT_EQ(value("-3 + -(2 - 5)"), (Rational{0, 1}));
  EXPECT_EQ(EvaluateExpression("(1+2)*34")->numbers, (std::vector<std::int64_t>{1, 2, 34}));
}

TEST(Countdown, WhatIsNoExpression) {
  for (const char* text : {"", "1 +", "(1", "1)", "1 2", "2(3)", "1.5", "2^3", "2**3", "x", "1/0", "1/(2-2)",
                           "99999999999999999999", "9223372036854775807 * 2", "system(1)", "1;2"}) {
    EXPECT_FALSE(EvaluateExpression(text)) << text;
  }
  EXPECT_FALSE(EvaluateExpression(std::string(1'000'000, '(')));
  EXPECT_FALSE(EvaluateExpression(std::string(1'000'000, '-') + "1"));
}

TEST(Countdown, WhereTheExpressionIs) {
  EXPECT_EQ(ExtractExpression("so <answer>93 - (100 - 30)</answer>"), "93 - (100 - 30)");
  EXPECT_EQ(ExtractExpression("<answer>\\boxed{30 \\times 2 = 60}</answer>"), "30 * 2");
  EXPECT_EQ(ExtractExpression("<answer>23 = 93-70</answer>"), "93-70");
  EXPECT_EQ(ExtractExpression("Thus $\\boxed{\\frac{6}{2} + 1}$."), "((6)/(2)) + 1");
  EXPECT_EQ(ExtractExpression("First 1 + 2 = 3\nAnswer: 3 \xc3\x97 4 = 12.\nDone"), "3 * 4");
  EXPECT_EQ(ExtractExpression("no idea"), std::nullopt);
  EXPECT_EQ(ExtractExpression("<answer>no idea</answer>"), "no idea");
}

TEST(Countdown, Judges) {
  const auto scorer =
      kCountdownScorer.make({"{\"input\": \"30,100,93\", \"output\": \"23\"}\n{\"nums\": [2, 2, 5], \"target\": 20}"});
  ASSERT_EQ(scorer->items().size(), 2u);
  const auto judge = [&](std::size_t item, const char* response) { return scorer->Judge(item, response); };
  EXPECT_EQ(judge(0, "<answer>30 + 93 - 100</answer>").values.at(kCorrect), 1);
  EXPECT_EQ(judge(0, "<answer>30 + 93 - 100 = 23</answer>").values.at(kCorrect), 1);
  EXPECT_EQ(judge(0, "<answer>20 + 3</answer>").reason, "other numbers");
  EXPECT_EQ(judge(0, "<answer>30 + 93 + 100</answer>").reason, "another value");
  EXPECT_EQ(judge(0, "<answer>30 + 93 - 100 + 30 - 30</answer>").values.at(kCorrect), 0);
  EXPECT_EQ(judge(0, "nothing").reason, "no expression");
  EXPECT_EQ(judge(1, "<answer>2*2*5</answer>").values.at(kCorrect), 1);
  EXPECT_EQ(judge(1, "<answer>2*10</answer>").values.at("reaches_target"), 1);
  EXPECT_EQ(judge(1, "<answer>4*5</answer>").values.at("uses_numbers"), 0);
  EXPECT_EQ(scorer->QuestionKey("Numbers: [30, 100, 93]\nTarget: 23"), scorer->QuestionKey(scorer->items()[0].prompt));
  for (const char* data :
       {"{}", R"({"input": "1,x", "output": "2"})", R"({"nums": [1.5], "target": 2})", R"({"nums": [1]})"}) {
    EXPECT_THROW(kCountdownScorer.make({data}), Error) << data;
  }
}

}  // namespace
}  // namespace punt
