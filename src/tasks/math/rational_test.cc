#include "tasks/math/rational.h"

#include <gtest/gtest.h>

#include <limits>

namespace punt {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

TEST(Rational, FieldLawsOnSmallNumbers) {
  for (int a = -6; a <= 6; ++a) {
    for (int b = 1; b <= 6; ++b) {
      for (int c = -6; c <= 6; ++c) {
        for (int d = 1; d <= 6; ++d) {
          const Rational x = *MakeRational(a, b);
          const Rational y = *MakeRational(c, d);
          EXPECT_EQ(Add(x, y), MakeRational(a * d + c * b, b * d));
          EXPECT_EQ(Subtract(x, y), MakeRational(a * d - c * b, b * d));
          EXPECT_EQ(Multiply(x, y), MakeRational(a * c, b * d));
          EXPECT_EQ(Divide(x, y), MakeRational(a * d, b * c));
        }
      }
    }
  }
}

TEST(Rational, LowestTermsAndSigns) {
  EXPECT_EQ(MakeRational(4, -6), (Rational{-2, 3}));
  EXPECT_EQ(MakeRational(0, -6), (Rational{0, 1}));
  EXPECT_EQ(MakeRational(1, 0), std::nullopt);
  EXPECT_EQ(MakeRational(kLeast, 1), std::nullopt);
  EXPECT_EQ(MakeRational(1, kLeast), std::nullopt);
}

TEST(Rational, WhatDoesNotFitIsNothing) {
  const Rational most{kMost, 1};
  EXPECT_EQ(Add(most, {1, 1}), std::nullopt);
  EXPECT_EQ(Subtract({-kMost, 1}, {2, 1}), std::nullopt);
  EXPECT_EQ(Subtract({-kMost, 1}, {1, 1}), std::nullopt);  // the lowest number itself
  EXPECT_EQ(Multiply(most, {2, 1}), std::nullopt);
  EXPECT_EQ(Multiply(most, {1, kMost}), (Rational{1, 1}));
  EXPECT_EQ(Divide({1, kMost}, {2, 1}), std::nullopt);
  EXPECT_EQ(Divide(most, {0, 1}), std::nullopt);
}

TEST(Rational, Decimals) {
  EXPECT_EQ(ParseDecimal("12"), (Rational{12, 1}));
  EXPECT_EQ(ParseDecimal("-0.250"), (Rational{-1, 4}));
  EXPECT_EQ(ParseDecimal("+.5"), (Rational{1, 2}));
  EXPECT_EQ(ParseDecimal("7."), (Rational{7, 1}));
  EXPECT_EQ(ParseDecimal("9223372036854775807"), (Rational{kMost, 1}));
  for (const char* text :
       {"", "-", ".", "1.2.3", "1 2", "0x1", "1e3", "9223372036854775808", "0.00000000000000000001"}) {
    EXPECT_EQ(ParseDecimal(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace punt
