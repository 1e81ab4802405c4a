// Quantiles of samples.
#pragma once

#include <span>
#include <vector>

namespace punt {

/// The values in ascending order; infinities go to the ends. NaN must not be among them.
std::vector<double> Sorted(std::span<const double> values);

/// The q-quantile (0 <= q <= 1) of ascending values, interpolated linearly between neighbouring order statistics: 0 is
/// the least, 1 the largest, 0.5 the median. `sorted` is not empty. Infinite values give infinite quantiles, never NaN.
double Quantile(std::span<const double> sorted, double q);

}  // namespace punt
