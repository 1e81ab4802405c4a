// Whether two measurements order things alike.
#pragma once

#include <span>
#include <vector>

#include "report/confidence.h"

namespace punt {

/// 1 for the smallest; equal values share the mean of their ranks.
std::vector<double> Ranks(std::span<const double> values);

/// Spearman's correlation: that of the ranks. The interval is Fisher's, with the standard error 1.03 / sqrt(n - 3). NaN
/// when either side has no two different values. Same sizes.
Estimate SpearmanOf(std::span<const double> values, std::span<const double> others);

}  // namespace punt
