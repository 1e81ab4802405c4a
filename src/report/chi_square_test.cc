#include "report/chi_square.h"

#include <gtest/gtest.h>

#include <vector>

#include "punt/random.h"

namespace punt {
namespace {

TEST(ChiSquare, APublishedTable) {
  // Abramowitz and Stegun, table 26.8.
  EXPECT_NEAR(ChiSquareBeyond(3.84146, 1), 0.05, 1e-6);
  EXPECT_NEAR(ChiSquareBeyond(5.99146, 2), 0.05, 1e-6);
  EXPECT_NEAR(ChiSquareBeyond(23.2093, 10), 0.01, 1e-6);
  EXPECT_NEAR(ChiSquareBeyond(14.9535, 25), 0.943, 1e-3);
  EXPECT_NEAR(ChiSquareBeyond(124.342, 100), 0.05, 1e-5);
  EXPECT_EQ(ChiSquareBeyond(0, 3), 1);
  EXPECT_NEAR(ChiSquareBeyond(100, 1) / 1.523970604832094e-23, 1, 1e-9);
}

TEST(ChiSquare, EvenDrawsHaveEvenPValues) {
  for (std::size_t cells : {5, 31, 378}) {
    std::vector<std::int64_t> below(2);
    for (std::uint64_t run = 0; run < 400; ++run) {
      RandomStream random(Mix64(run + 1000 * cells));
      std::vector<std::int64_t> counts(cells);
      for (int i = 0; i < 700; ++i) ++counts[static_cast<std::size_t>(random.Below(cells))];
      const double p = TestEven(counts)->p;
      below[0] += p < 0.5 ? 1 : 0;
      below[1] += p < 0.05 ? 1 : 0;
    }
    EXPECT_NEAR(static_cast<double>(below[0]), 200, 40) << cells;
    EXPECT_NEAR(static_cast<double>(below[1]), 20, 16) << cells;
  }
}

TEST(ChiSquare, UnevenOnesDoNot) {
  EXPECT_LT(TestEven(std::vector<std::int64_t>{100, 50, 50, 50})->p, 1e-4);
  EXPECT_EQ(TestEven(std::vector<std::int64_t>{10, 10, 10})->p, 1);
  // Statistic by hand: (3^2 + 1 + 2^2) / 10.
  EXPECT_DOUBLE_EQ(TestEven(std::vector<std::int64_t>{13, 9, 8})->statistic, 1.4);
}

TEST(ChiSquare, CellsArePutTogetherWhereFewAreExpected) {
  std::vector<std::int64_t> counts(12, 1);
  EXPECT_EQ(TestEven(counts)->degrees, 1);  // 2 groups of 6
  counts.assign(9, 1);
  EXPECT_FALSE(TestEven(counts));  // 9 expected at most in all
  counts.assign(31, 4);
  EXPECT_EQ(TestEven(counts)->degrees, 14);  // groups of 2 and 3
  EXPECT_FALSE(TestEven(std::vector<std::int64_t>(5)));
}

}  // namespace
}  // namespace punt
