#include "denoise/toy_random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace punt {
namespace {

class Dirichlet : public testing::TestWithParam<double> {};

// For a symmetric law with total concentration A = V a: E p = 1/V, Var p = (1/V)(1 - 1/V) / (A + 1).
TEST_P(Dirichlet, HasTheMomentsOfItsLaw) {
  constexpr int kStates = 4;
  constexpr int kDraws = 20000;
  const double a = GetParam();
  double mean = 0;
  double square = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    RandomStream stream = ToyStream(11, ToyPart::kTable, draw);
    const double p = DrawDirichlet(kStates, a, stream)[1];
    mean += p / kDraws;
    square += p * p / kDraws;
  }
  const double variance = 0.25 * 0.75 / (kStates * a + 1);
  const double standard_error = std::sqrt(variance / kDraws);
  EXPECT_NEAR(mean, 0.25, 5 * standard_error);
  EXPECT_NEAR(square - mean * mean, variance, 0.06 * variance);
}

INSTANTIATE_TEST_SUITE_P(Concentrations, Dirichlet, testing::Values(0.05, 0.3, 1.0, 1.5, 20.0));

TEST(DirichletTest, StaysADistributionAtExtremeConcentrations) {
  for (double concentration : {0.001, 1e6}) {
    for (Position node = 0; node < 200; ++node) {
      RandomStream stream = ToyStream(3, ToyPart::kTable, node);
      const std::vector<double> point = DrawDirichlet(8, concentration, stream);
      double sum = 0;
      for (double p : point) {
        EXPECT_GE(p, 0);
        EXPECT_TRUE(std::isfinite(p));
        sum += p;
      }
      EXPECT_NEAR(sum, 1, 1e-12);
    }
  }
}

TEST(PermutationTest, AllOrdersAreEquallyLikely) {
  constexpr int kDraws = 24000;
  std::map<std::vector<Position>, int> counts;
  for (Position draw = 0; draw < kDraws; ++draw) {
    RandomStream stream = ToyStream(5, ToyPart::kOrder, draw);
    ++counts[DrawPermutation(4, stream)];
  }
  ASSERT_EQ(counts.size(), 24u);
  double chi_square = 0;
  for (const auto& [order, count] : counts) chi_square += (count - 1000.0) * (count - 1000.0) / 1000.0;
  EXPECT_LT(chi_square, 60);  // 23 degrees of freedom: mean 23, standard deviation 6.8
}

TEST(ToyStreamTest, PartsAndNodesAreApart) {
  EXPECT_NE(ToyStream(1, ToyPart::kTable, 0).Next(), ToyStream(1, ToyPart::kOrder, 0).Next());
  EXPECT_NE(ToyStream(1, ToyPart::kTable, 0).Next(), ToyStream(1, ToyPart::kTable, 1).Next());
  EXPECT_NE(ToyStream(1, ToyPart::kTable, 0).Next(), ToyStream(2, ToyPart::kTable, 0).Next());
  EXPECT_EQ(ToyStream(1, ToyPart::kTable, 0).Next(), ToyStream(1, ToyPart::kTable, 0).Next());
}

}  // namespace
}  // namespace punt
