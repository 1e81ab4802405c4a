// Whether counts come from a uniform law.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace punt {

/// P(X >= x) of the chi-square law with `degrees` >= 1 degrees of freedom, x >= 0.
double ChiSquareBeyond(double x, int degrees);

struct ChiSquareTest {
  double statistic = 0;
  int degrees = 0;
  double p = 1;
};

/// Pearson's test of counts against equal probabilities of all cells. Neighbouring cells are merged until at
/// least 5 are expected in each, as the law of the statistic requires; none if that leaves one cell.
std::optional<ChiSquareTest> TestEven(std::span<const std::int64_t> counts);

}  // namespace punt
