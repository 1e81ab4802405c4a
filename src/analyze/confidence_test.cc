#include "analyze/confidence.h"

#include <gtest/gtest.h>

#include <cmath>
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
  for (int n : {1, 7, 200}) {
    for (int k = 1; k < n; ++k) {
      const Estimate share = ShareOf(k, n);
      EXPECT_DOUBLE_EQ(share.value, static_cast<double>(k) / n);
      EXPECT_NEAR(share.ci95.low, WilsonLimit(share.value, n, share.value, 0), 1e-9);
      EXPECT_NEAR(share.ci95.high, WilsonLimit(share.value, n, share.value, 1), 1e-9);
    }
  }
  EXPECT_EQ(ShareOf(0, 5).ci95.low, 0);
  EXPECT_EQ(ShareOf(5, 5).ci95.high, 1);
  EXPECT_GT(ShareOf(0, 5).ci95.high, 0.3);
}

TEST(Confidence, MeansAndRatios) {
  const std::vector<double> values = {1, 2, 3, 6};
  const Estimate mean = MeanOf(values);
  EXPECT_DOUBLE_EQ(mean.value, 3);
  const double error = std::sqrt((4 + 1 + 0 + 9) / 3.0 / 4.0);
  EXPECT_NEAR(mean.ci95.high - 3, 1.959963984540054 * error, 1e-12);
  EXPECT_NEAR(3 - mean.ci95.low, 1.959963984540054 * error, 1e-12);
  EXPECT_EQ(MeanOf(std::vector<double>{4}).ci95.low, 4);
  // Every item with the same ratio: nothing is uncertain, whatever their sizes.
  const Estimate ratio = RatioOf(std::vector<double>{2, 4, 10}, std::vector<double>{1, 2, 5});
  EXPECT_DOUBLE_EQ(ratio.value, 2);
  EXPECT_DOUBLE_EQ(ratio.ci95.low, 2);
  // Long items count for more.
  EXPECT_DOUBLE_EQ(RatioOf(std::vector<double>{1, 9}, std::vector<double>{1, 3}).value, 2.5);
}

}  // namespace
}  // namespace punt
