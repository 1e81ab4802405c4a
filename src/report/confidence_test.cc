#include "report/confidence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace punt {
namespace {

/// Wilson's limits are the shares p with |share - p| = z sqrt(p (1 - p) / n): found by bisection.
double WilsonLimit(double share, double n, double from, double to) {
  const double z = 1.959963984540054;
  for (int i = 0; i < 200; ++i) {
    const double middle = (from + to) / 2;
    (std::abs(share - middle) < z * std::sqrt(middle * (1 - middle) / n) ? from : to) = middle;
  }
  return from;
}

TEST(Confidence, WilsonSolvesItsEquation) {
  for (int n : {3, 7, 200}) {
    for (int k = 1; k < n; ++k) {
      const Estimate share = ShareOf(k, n);
      EXPECT_DOUBLE_EQ(share.value, static_cast<double>(k) / n);
      EXPECT_NEAR(share.ci95->low, WilsonLimit(share.value, n, share.value, 0), 1e-9);
      EXPECT_NEAR(share.ci95->high, WilsonLimit(share.value, n, share.value, 1), 1e-9);
    }
  }
  EXPECT_EQ(ShareOf(0, 5).ci95->low, 0);
  EXPECT_EQ(ShareOf(5, 5).ci95->high, 1);
  EXPECT_GT(ShareOf(0, 5).ci95->high, 0.3);
}

TEST(Confidence, MeansAndRatios) {
  const std::vector<double> values = {1, 2, 3, 6};
  const Estimate mean = MeanOf(values, kAnyNumber);
  EXPECT_DOUBLE_EQ(mean.value, 3);
  const double error = std::sqrt((4 + 1 + 0 + 9) / 3.0 / 4.0);
  EXPECT_NEAR(mean.ci95->high - 3, 3.182446305284 * error, 1e-9);  // t of 3 degrees of freedom
  EXPECT_NEAR(3 - mean.ci95->low, 3.182446305284 * error, 1e-9);
  // Every item with the same ratio: nothing is uncertain, whatever their sizes.
  const Estimate ratio = RatioOf(std::vector<double>{2, 4, 10}, std::vector<double>{1, 2, 5}, kNotNegative);
  EXPECT_DOUBLE_EQ(ratio.value, 2);
  EXPECT_DOUBLE_EQ(ratio.ci95->low, 2);
  // Long items count for more.
  EXPECT_DOUBLE_EQ(RatioOf(std::vector<double>{1, 9}, std::vector<double>{1, 3}, kNotNegative).value, 2.5);
}

TEST(Confidence, DifferencesAddWhatIsUncertainInBothMeans) {
  const std::vector<double> values = {1, 2, 3, 6}, others = {10, 10, 13};
  const Estimate difference = DifferenceOf(values, others);
  EXPECT_DOUBLE_EQ(difference.value, -8);
  const double error = std::sqrt((4 + 1 + 0 + 9) / 3.0 / 4.0 + (1 + 1 + 4) / 2.0 / 3.0);
  EXPECT_NEAR(difference.ci95->high + 8, 4.302652729911 * error, 1e-9);  // t of 2 degrees of freedom
  EXPECT_NEAR(-8 - difference.ci95->low, 4.302652729911 * error, 1e-9);
  EXPECT_DOUBLE_EQ(DifferenceOf(others, values).ci95->low, -difference.ci95->high);
  const std::vector<double> two = {1, 2}, one = {4};
  EXPECT_FALSE(DifferenceOf(values, two).ci95.has_value());
  EXPECT_DOUBLE_EQ(DifferenceOf(one, values).value, 1);
}

TEST(Confidence, FewerThanThreeItemsHaveNoInterval) {
  for (int n : {1, 2, 3}) {
    const std::vector<double> values(static_cast<std::size_t>(n), 0.5);
    EXPECT_EQ(MeanOf(values, kShares).ci95.has_value(), n >= 3) << n;
    EXPECT_EQ(RatioOf(values, values, kShares).ci95.has_value(), n >= 3) << n;
    EXPECT_EQ(ExpOf(MeanOf(values, kNotNegative)).ci95.has_value(), n >= 3) << n;
    EXPECT_EQ(ShareOf(1, n).ci95.has_value(), n >= 3) << n;
  }
}

/// How often the interval of n normal values holds their true mean.
double Coverage(int n, std::mt19937_64& random) {
  std::normal_distribution<double> normal(5, 2);
  const int trials = 40'000;  // a standard deviation of 0.1 %
  int held = 0;
  std::vector<double> values(static_cast<std::size_t>(n));
  for (int trial = 0; trial < trials; ++trial) {
    for (double& value : values) value = normal(random);
    const Interval interval = *MeanOf(values, kAnyNumber).ci95;
    held += interval.low <= 5 && 5 <= interval.high ? 1 : 0;
  }
  return static_cast<double>(held) / trials;
}

TEST(Confidence, HoldsTheMeanInNinetyFiveOfAHundred) {
  std::mt19937_64 random(1);
  for (int n : {3, 4, 5, 6, 8, 10, 15, 20, 30}) EXPECT_NEAR(Coverage(n, random), 0.95, 0.01) << n;
}

TEST(Confidence, StaysInTheRangeAndHoldsItsValue) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> share(0, 1);
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> values, wholes;
    for (int i = 0; i < 3 + trial % 20; ++i) {
      // Near the edges, where an interval would leave the range.
      values.push_back(std::round(share(random) * 20) / 20 > 0.1 ? 1 : share(random));
      wholes.push_back(1 + 10 * share(random));
    }
    std::vector<double> parts;
    for (std::size_t i = 0; i < values.size(); ++i) parts.push_back(values[i] * wholes[i]);
    for (const Estimate& estimate : {MeanOf(values, kShares), RatioOf(parts, wholes, kShares)}) {
      EXPECT_GE(estimate.ci95->low, 0);
      EXPECT_LE(estimate.ci95->high, 1 + 1e-12);  // a mean of ones, rounded
      EXPECT_LE(estimate.ci95->low, estimate.value);
      EXPECT_GE(estimate.ci95->high, estimate.value);
    }
    for (double& value : values) value = 1 - value;
    EXPECT_GE(MeanOf(values, kNotNegative).ci95->low, 0);
    EXPECT_GE(ExpOf(MeanOf(values, kNotNegative)).ci95->low, 1) << "no perplexity is below 1";
  }
}

TEST(Confidence, APerplexityIsThatOfItsNats) {
  const std::vector<double> nats = {1.5, 2.5, 1.75, 2};
  const Estimate mean = MeanOf(nats, kNotNegative);
  const Estimate perplexity = ExpOf(mean);
  EXPECT_DOUBLE_EQ(perplexity.value, std::exp(mean.value));
  EXPECT_DOUBLE_EQ(perplexity.ci95->low, std::exp(mean.ci95->low));
  EXPECT_DOUBLE_EQ(perplexity.ci95->high, std::exp(mean.ci95->high));
}

}  // namespace
}  // namespace punt
