// Dividing work among threads that meet only at its end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace punt {

/// Which items each of `parts` gets, so that all parts cost about the same: the most expensive item goes first, each to
/// the part that has the least. Empty when there are fewer items than parts, or one part would have more than `uneven`
/// times its even share.
inline std::vector<std::vector<std::size_t>> EvenShares(std::span<const std::int64_t> costs, std::size_t parts,
                                                        double uneven) {
  if (costs.size() < parts) return {};
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return costs[a] > costs[b]; });
  std::vector<std::vector<std::size_t>> shares(parts);
  std::vector<std::int64_t> sums(parts, 0);
  for (std::size_t item : order) {
    const auto least = std::min_element(sums.begin(), sums.end());
    *least += costs[item];
    shares[static_cast<std::size_t>(least - sums.begin())].push_back(item);
  }
  const auto most = static_cast<double>(*std::max_element(sums.begin(), sums.end()));
  const auto all = static_cast<double>(std::accumulate(sums.begin(), sums.end(), std::int64_t{0}));
  if (most * static_cast<double>(parts) > uneven * all) return {};
  return shares;
}

}  // namespace punt
