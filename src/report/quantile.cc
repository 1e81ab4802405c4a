#include "report/quantile.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace punt {

std::vector<double> Sorted(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

double Quantile(std::span<const double> sorted, double q) {
  Check(!sorted.empty() && q >= 0 && q <= 1, "a quantile of nothing");
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(place));
  const double low = sorted[below];
  const double high = sorted[std::min(below + 1, sorted.size() - 1)];
  const double share = place - static_cast<double>(below);
  if (share == 0 || low == high) return low;
  return low + share * (high - low);
}

}  // namespace punt
