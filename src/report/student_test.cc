#include "report/student.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <utility>

namespace punt {
namespace {

TEST(Student, IsThePublishedTable) {
  // The usual table of t, two-sided 5 %, three decimals.
  const std::pair<int, double> table[] = {{1, 12.706}, {2, 4.303},  {3, 3.182},  {4, 2.776},  {5, 2.571},
                                          {6, 2.447},  {7, 2.365},  {8, 2.306},  {9, 2.262},  {10, 2.228},
                                          {11, 2.201}, {12, 2.179}, {15, 2.131}, {20, 2.086}, {25, 2.060},
                                          {29, 2.045}, {30, 2.042}, {40, 2.021}, {60, 2.000}, {120, 1.980}};
  for (const auto& [degrees, t] : table) EXPECT_NEAR(StudentReach95(degrees), t, 5.1e-4) << degrees;
  EXPECT_NEAR(StudentReach95(1'000'000'000), 1.959964, 1e-6);
}

TEST(Student, IsTheIntegralOfItsDensity) {
  for (int degrees : {1, 2, 3, 4, 7, 12, 31, 200}) {
    const double n = degrees;
    const double scale = std::exp(std::lgamma((n + 1) / 2) - std::lgamma(n / 2)) / std::sqrt(n * std::numbers::pi);
    const int pieces = 20'000;
    const double reach = StudentReach95(degrees);
    double sum = 0;
    for (int i = 0; i < pieces; ++i) {
      const double t = reach * (i + 0.5) / pieces;
      sum += 2 * scale * std::pow(1 + t * t / n, -(n + 1) / 2) * reach / pieces;
    }
    EXPECT_NEAR(sum, 0.95, 1e-6) << degrees;
    EXPECT_NEAR(StudentWithin(reach, degrees), 0.95, 1e-12) << degrees;
  }
}

TEST(Student, FallsAndItsTwoMethodsMeet) {
  for (int degrees = 1; degrees < 1000; ++degrees) {
    EXPECT_GT(StudentReach95(degrees), StudentReach95(degrees + 1)) << degrees;
  }
  for (int degrees : {400, 401, 2000}) EXPECT_NEAR(StudentWithin(StudentReach95(degrees), degrees), 0.95, 1e-10);
}

}  // namespace
}  // namespace punt
