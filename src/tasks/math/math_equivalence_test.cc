#include "tasks/math/math_equivalence.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace punt {
namespace {

/// The rule, which must not depend on the order.
std::string Rule(const std::string& a, const std::string& b) {
  const std::string_view rule = EquivalenceRule(a, b);
  EXPECT_EQ(rule, EquivalenceRule(b, a)) << a << " and " << b;
  return std::string(rule);
}

TEST(MathEquivalence, EveryRuleHasItsExamples) {
  EXPECT_EQ(Rule("5 \\text{ cm}", "5"), "lewkowycz");
  EXPECT_EQ(Rule("\\dfrac{1}{2}", "1/2"), "hendrycks");
  EXPECT_EQ(Rule("0.125", "\\frac{1}{8}"), "number");
  EXPECT_EQ(Rule("\\frac46", "2/3"), "number");
  EXPECT_EQ(Rule("1\\frac{4}{5}", "\\frac{9}{5}"), "number");
  EXPECT_EQ(Rule("137 \\frac{1}{2}", "137.5"), "number");
  EXPECT_EQ(Rule("-\\frac{1}{4}", "-.25"), "number");
  EXPECT_EQ(Rule("\\$32,\\!348", "32348.00"), "number");
  EXPECT_EQ(Rule("(0.25, 3]", "\\left(\\frac14,3\\right]"), "tuple");
  EXPECT_EQ(Rule("(1,(2,0.25))", "(1,(2,1/4))"), "tuple");
  EXPECT_EQ(Rule("\\{1, 2\\}", "\\{2,1\\}"), "set");
  EXPECT_EQ(Rule("(2,3) \\cup (0,1)", "(0,1)\\cup(2,3)"), "union");
  EXPECT_EQ(Rule("\\begin{pmatrix} 1/4 \\\\ 2 \\end{pmatrix}", "\\begin{pmatrix} 0.25 \\\\ 2 \\end{pmatrix}"),
            "matrix");
}

TEST(MathEquivalence, NearMisses) {
  EXPECT_EQ(Rule("(3,4]", "(3,4)"), "");
  EXPECT_EQ(Rule("(1,2)", "(2,1)"), "");
  EXPECT_EQ(Rule("1,-2", "-2,1"), "");
  EXPECT_EQ(Rule("\\{1,1\\}", "\\{1,2\\}"), "");
  EXPECT_EQ(Rule("\\{1,2,3\\}", "\\{1,2\\}"), "");
  EXPECT_EQ(Rule("0.333", "\\frac13"), "");
  EXPECT_EQ(Rule("10\\%", "0.1"), "");
  EXPECT_EQ(Rule("1 1/2", "5.5"), "");
  EXPECT_EQ(Rule("3\\frac{7}{2}", "6.5"), "");
  EXPECT_EQ(Rule("12,34", "1234.0"), "");
  EXPECT_EQ(Rule("52_8", "52"), "");
  EXPECT_EQ(Rule("\\frac{1}{0}", "\\frac{2}{0}"), "");
  EXPECT_EQ(Rule("x+y", "y+x"), "");
  EXPECT_EQ(Rule("\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}", "\\begin{pmatrix} 1 & 2 \\end{pmatrix}"), "");
  EXPECT_EQ(Rule("\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}", "\\begin{bmatrix} 1 \\\\ 2 \\end{bmatrix}"), "");
  EXPECT_EQ(Rule("(2,3)(0,1)", "(0,1)(2,3)"), "");
  EXPECT_EQ(Rule("99999999999999999999/3", "33333333333333333333"), "");
}

TEST(MathEquivalence, NumbersAsTheyAreWritten) {
  for (int above = -30; above <= 30; ++above) {
    for (int below = 1; below <= 30; ++below) {
      const auto wanted = MakeRational(above, below);
      EXPECT_EQ(NumberValue(fmt::format("{}/{}", above, below)), wanted);
      EXPECT_EQ(NumberValue(fmt::format("\\frac{{{}}}{{{}}}", above, below)), wanted);
      EXPECT_EQ(NumberValue(fmt::format("\\dfrac{{ {} }}{{ {} }}", above, below)), wanted);
      if (above > 0) {
        EXPECT_EQ(NumberValue(fmt::format("-\\frac{{{}}}{{{}}}", above, below)), MakeRational(-above, below));
      }
      if (above > 0 && above < below) {
        EXPECT_EQ(NumberValue(fmt::format("7\\frac{{{}}}{{{}}}", above, below)),
                  MakeRational(7 * below + above, below));
      }
    }
    EXPECT_EQ(NumberValue(fmt::format("{}.25", above < 0 ? 0 : above)),
              MakeRational((above < 0 ? 0 : above) * 4 + 1, 4));
  }
  EXPECT_EQ(NumberValue("1,234,567"), MakeRational(1234567, 1));
  for (const char* text : {"", "-", ".", "1,23", "1.2.3", "--1", "\\frac{1}{}", "\\frac", "x", "1e5", "5%"}) {
    EXPECT_EQ(NumberValue(text), std::nullopt) << text;
  }
}

TEST(MathEquivalence, DeepNestingEnds) {
  const std::string a(100'000, '(');
  EXPECT_EQ(Rule(a, a + "1"), "");
  std::string nested = "0.25";
  std::string other = "1/4";
  for (int i = 0; i < 30; ++i) {
    nested = "(0," + nested + ")";
    other = "(0," + other + ")";
  }
  EXPECT_EQ(Rule(nested, other), "");  // beyond the limit: not told equal
}

}  // namespace
}  // namespace punt
