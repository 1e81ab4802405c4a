#include "report/quantile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace punt {
namespace {

/// The order statistic by counting: as many values below it as its rank says.
double NaiveOrderStatistic(const std::vector<double>& values, std::size_t rank) {
  for (double candidate : values) {
    const auto below = std::count_if(values.begin(), values.end(), [&](double v) { return v < candidate; });
    const auto equal = std::count(values.begin(), values.end(), candidate);
    if (below <= static_cast<std::ptrdiff_t>(rank) && static_cast<std::ptrdiff_t>(rank) < below + equal) {
      return candidate;
    }
  }
  return NAN;
}

TEST(Quantile, EqualsCountedOrderStatistics) {
  std::mt19937 engine(7);
  std::uniform_int_distribution<int> value(0, 30);  // ties on purpose
  for (int size = 1; size <= 41; size += 5) {
    std::vector<double> values;
    for (int i = 0; i < size; ++i) values.push_back(value(engine) / 8.0);
    const std::vector<double> sorted = Sorted(values);
    for (int rank = 0; rank < size; ++rank) {
      const double q = size == 1 ? 0 : static_cast<double>(rank) / (size - 1);
      const double expected = NaiveOrderStatistic(values, static_cast<std::size_t>(rank));
      EXPECT_NEAR(Quantile(sorted, q), expected, 1e-12) << size << " " << rank;
    }
  }
}

TEST(Quantile, LiesOnTheLineBetweenNeighbours) {
  const std::vector<double> sorted = {0, 10, 30};
  EXPECT_DOUBLE_EQ(Quantile(sorted, 0.25), 5);
  EXPECT_DOUBLE_EQ(Quantile(sorted, 0.5), 10);
  EXPECT_DOUBLE_EQ(Quantile(sorted, 0.95), 28);
  EXPECT_EQ(Quantile(std::vector<double>{4}, 0.3), 4);
}

TEST(Quantile, InfinityIsNeverNan) {
  const std::vector<double> sorted = Sorted(std::vector<double>{INFINITY, 1, INFINITY, 2});
  EXPECT_EQ(sorted.front(), 1);
  EXPECT_EQ(Quantile(sorted, 1), INFINITY);
  EXPECT_EQ(Quantile(sorted, 0.9), INFINITY);
  EXPECT_EQ(Quantile(sorted, 0.5), INFINITY);  // between 2 and infinity
  EXPECT_EQ(Quantile(sorted, 0), 1);
}

}  // namespace
}  // namespace punt
