// P(X >= x) is the regularised upper incomplete gamma function Q(degrees / 2, x / 2). For whole degrees it is a finite
// sum (Abramowitz and Stegun, 26.4.4 and 26.4.5): from Q(1/2, y) = erfc(sqrt y) or Q(1, y) = e^-y upwards by
// Q(s + 1, y) = Q(s, y) + y^s e^-y / Gamma(s + 1). All terms are positive, so nothing cancels in the far tail.
//
// Tested by: chi_square_test.cc (a published table; uniform draws, whose p-values must be uniform).
#include "report/chi_square.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/check.h"

namespace punt {
namespace {

constexpr std::int64_t kLeastExpected = 5;

}  // namespace

double ChiSquareBeyond(double x, int degrees) {
  Check(degrees >= 1 && x >= 0, "a chi-square law without degrees, or left of 0");
  if (x == 0) return 1;
  const double y = x / 2;
  double shape = degrees % 2 == 1 ? 0.5 : 1.0;
  double beyond = degrees % 2 == 1 ? std::erfc(std::sqrt(y)) : std::exp(-y);
  for (; 2 * shape < degrees; shape += 1) beyond += std::exp(shape * std::log(y) - y - std::lgamma(shape + 1));
  return std::min(beyond, 1.0);
}

std::optional<ChiSquareTest> TestEven(std::span<const std::int64_t> counts) {
  const std::int64_t all = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  const std::size_t cells = counts.size();
  // Groups differ by a cell at most; the smallest one decides.
  std::size_t groups = cells;
  const auto expected_least = [&] { return static_cast<double>(all) * static_cast<double>(cells / groups); };
  while (groups > 1 && expected_least() < static_cast<double>(kLeastExpected) * static_cast<double>(cells)) --groups;
  if (groups < 2) return std::nullopt;
  std::vector<double> seen(groups), expected(groups);
  for (std::size_t i = 0; i < cells; ++i) {
    seen[i * groups / cells] += static_cast<double>(counts[i]);
    expected[i * groups / cells] += static_cast<double>(all) / static_cast<double>(cells);
  }
  ChiSquareTest test{.degrees = static_cast<int>(groups) - 1};
  for (std::size_t i = 0; i < groups; ++i) {
    test.statistic += (seen[i] - expected[i]) * (seen[i] - expected[i]) / expected[i];
  }
  test.p = ChiSquareBeyond(test.statistic, test.degrees);
  return test;
}

}  // namespace punt
