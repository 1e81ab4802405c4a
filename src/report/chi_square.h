// Whether counts come from an even law.
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

/// Pearson's test of counts against equal probabilities of all cells. Neighbouring cells are put together until at
/// least 5 are expected in each, as the law of the statistic asks for; none where that leaves one cell.
std::optional<ChiSquareTest> TestEven(std::span<const std::int64_t> counts);

}  // namespace punt
