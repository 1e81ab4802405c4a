#include "report/rank_correlation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace punt {

std::vector<double> Ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double mean = static_cast<double>(begin + end + 1) / 2;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = mean;
    begin = end;
  }
  return ranks;
}

Estimate SpearmanOf(std::span<const double> values, std::span<const double> others) {
  Check(values.size() == others.size(), "a correlation of lists of different lengths");
  const std::vector<double> a = Ranks(values), b = Ranks(others);
  const auto count = static_cast<double>(values.size());
  const double mean = (count + 1) / 2;
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean) * (b[i] - mean);
    aa += (a[i] - mean) * (a[i] - mean);
    bb += (b[i] - mean) * (b[i] - mean);
  }
  Estimate estimate{.value = std::clamp(ab / std::sqrt(aa * bb), -1.0, 1.0)};
  if (count < 4 || std::isnan(estimate.value)) return estimate;
  const double centre = std::atanh(std::clamp(estimate.value, -1 + 1e-12, 1 - 1e-12));
  const double reach = 1.959964 * 1.03 / std::sqrt(count - 3);
  estimate.ci95 = {std::tanh(centre - reach), std::tanh(centre + reach)};
  return estimate;
}

}  // namespace punt
