#include "report/rank_correlation.h"

#include <gtest/gtest.h>

#include <cmath>

namespace punt {
namespace {

TEST(RankCorrelation, EqualValuesShareTheirRanks) {
  EXPECT_EQ(Ranks(std::vector<double>{3, 1, 3, 2}), (std::vector<double>{3.5, 1, 3.5, 2}));
  EXPECT_EQ(Ranks(std::vector<double>{5, 5, 5}), (std::vector<double>{2, 2, 2}));
}

TEST(RankCorrelation, IsThatOfTheRanks) {
  const std::vector<double> rising = {1, 2, 30, 400, 5000};
  EXPECT_DOUBLE_EQ(SpearmanOf(rising, std::vector<double>{-5, -4, -3, -2, -1}).value, 1);
  EXPECT_DOUBLE_EQ(SpearmanOf(rising, std::vector<double>{5, 4, 3, 2, 1}).value, -1);
  // Ranks 1 2 3 4 5 and 2 1 4 3 5: 1 - 6 * 4 / (5 * 24).
  EXPECT_DOUBLE_EQ(SpearmanOf(rising, std::vector<double>{0.2, 0.1, 0.4, 0.3, 0.5}).value, 0.8);
  // With ties, Pearson's of 1 2 3 4 5 and 1.5 1.5 3 4.5 4.5.
  EXPECT_NEAR(SpearmanOf(rising, std::vector<double>{1, 1, 2, 3, 3}).value, 9 / std::sqrt(10.0 * 9), 1e-12);
}

TEST(RankCorrelation, IntervalsHoldTheValue) {
  const std::vector<double> a = {1, 2, 3, 4, 5, 6}, b = {2, 1, 4, 3, 6, 5};
  const Estimate estimate = SpearmanOf(a, b);
  ASSERT_TRUE(estimate.ci95.has_value());
  EXPECT_LT(estimate.ci95->low, estimate.value);
  EXPECT_GT(estimate.ci95->high, estimate.value);
  EXPECT_LE(estimate.ci95->high, 1);
  EXPECT_FALSE(SpearmanOf(std::vector<double>{1, 2, 3}, std::vector<double>{1, 2, 3}).ci95.has_value());
}

TEST(RankCorrelation, ConstantsHaveNone) {
  EXPECT_TRUE(std::isnan(SpearmanOf(std::vector<double>{1, 1, 1}, std::vector<double>{1, 2, 3}).value));
}

}  // namespace
}  // namespace punt
