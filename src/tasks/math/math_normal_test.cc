#include "tasks/math/math_normal.h"

#include <gtest/gtest.h>

namespace punt {
namespace {

TEST(MathNormal, Lewkowycz) {
  EXPECT_EQ(LewkowyczNormal("x = 1{,}000 \\text{ dollars}"), "1000");
  EXPECT_EQ(LewkowyczNormal("10,\\!080"), "10080");
  EXPECT_EQ(LewkowyczNormal("58,500"), "58500");
  EXPECT_EQ(LewkowyczNormal("1,-2"), "1,-2");
  EXPECT_EQ(LewkowyczNormal("864 \\mbox{ inches}^2"), "864");
  EXPECT_EQ(LewkowyczNormal("90^\\circ"), "90");
  EXPECT_EQ(LewkowyczNormal("\\text{east}"), "east");
  EXPECT_EQ(LewkowyczNormal("a total of $\\frac12$ in all"), "\\frac{1}{2}");
  EXPECT_EQ(LewkowyczNormal("\\boxed{\\sqrt2}"), "\\sqrt{2}");
  EXPECT_EQ(LewkowyczNormal("\\frac{1}{2}"), "\\frac{1}{2}");
  EXPECT_EQ(LewkowyczNormal("\\overline{AB}"), "AB");
  EXPECT_EQ(LewkowyczNormal("\\text{open"), "\\text{open");
  EXPECT_EQ(LewkowyczNormal("frac"), "frac");
  EXPECT_EQ(LewkowyczNormal(""), "");
}

TEST(MathNormal, Hendrycks) {
  EXPECT_EQ(HendrycksNormal("\\dfrac{1}{2}"), "\\frac{1}{2}");
  EXPECT_EQ(HendrycksNormal("0.5"), "\\frac{1}{2}");
  EXPECT_EQ(HendrycksNormal("1/2"), "\\frac{1}{2}");
  EXPECT_EQ(HendrycksNormal("-1/2"), "\\frac{-1}{2}");
  EXPECT_EQ(HendrycksNormal("01/2"), "01/2");
  EXPECT_EQ(HendrycksNormal("a/b"), "a/b");
  EXPECT_EQ(HendrycksNormal("\\frac12"), "\\frac{1}{2}");
  EXPECT_EQ(HendrycksNormal("\\frac1{12}"), "\\frac{1}{12}");
  EXPECT_EQ(HendrycksNormal("\\frac{1}2"), "\\frac{1}2");
  EXPECT_EQ(HendrycksNormal("3\\frac1"), "3\\frac1");
  EXPECT_EQ(HendrycksNormal("\\sqrt3"), "\\sqrt{3}");
  EXPECT_EQ(HendrycksNormal("5.4 \\text{ cents}"), "5.4");
  EXPECT_EQ(HendrycksNormal("\\text{ a} \\text{ b}"), "\\text{a}\\text{b}");
  EXPECT_EQ(HendrycksNormal(".25"), "0.25");
  EXPECT_EQ(HendrycksNormal("x = 5"), "5");
  EXPECT_EQ(HendrycksNormal("area=5"), "area=5");
  EXPECT_EQ(HendrycksNormal("10\\%"), "10");
  EXPECT_EQ(HendrycksNormal("\\left( 3, 4 \\right)"), "(3,4)");
  EXPECT_EQ(HendrycksNormal("30^{\\circ}"), "30");
}

TEST(MathNormal, SecondTimeChangesNothing) {
  for (const char* answer :
       {"\\frac{14}{3}", "6 - 5i", "(3,4]", "\\sqrt{51}", "2k+2", "1,234", "\\text{(C)}", "11\\sqrt2"}) {
    EXPECT_EQ(LewkowyczNormal(LewkowyczNormal(answer)), LewkowyczNormal(answer)) << answer;
    EXPECT_EQ(HendrycksNormal(HendrycksNormal(answer)), HendrycksNormal(answer)) << answer;
  }
}

}  // namespace
}  // namespace punt
