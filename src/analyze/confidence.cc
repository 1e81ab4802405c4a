#include "analyze/confidence.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "base/check.h"

namespace punt {
namespace {

constexpr double kZ = 1.959963984540054;  // the normal quantile of 0.975

}  // namespace

Estimate ShareOf(std::int64_t successes, std::int64_t trials) {
  Check(trials > 0 && successes >= 0 && successes <= trials, "a share of nothing");
  const auto n = static_cast<double>(trials);
  const double share = static_cast<double>(successes) / n;
  const double centre = (share + kZ * kZ / (2 * n)) / (1 + kZ * kZ / n);
  const double half = kZ / (1 + kZ * kZ / n) * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n));
  // Rounding must not put the share itself outside.
  return {share, {successes == 0 ? 0 : centre - half, successes == trials ? 1 : centre + half}};
}

Estimate MeanOf(std::span<const double> values) {
  const std::vector<double> ones(values.size(), 1.0);
  return RatioOf(values, ones);
}

Estimate RatioOf(std::span<const double> parts, std::span<const double> wholes) {
  Check(parts.size() == wholes.size() && !parts.empty(), "a ratio of nothing");
  const double whole = std::accumulate(wholes.begin(), wholes.end(), 0.0);
  Check(whole > 0, "a ratio to nothing");
  const double ratio = std::accumulate(parts.begin(), parts.end(), 0.0) / whole;
  const auto n = static_cast<double>(parts.size());
  if (parts.size() < 2) return {ratio, {ratio, ratio}};
  double squares = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) squares += std::pow(parts[i] - ratio * wholes[i], 2);
  const double half = kZ * std::sqrt(squares * n / (n - 1)) / whole;
  return {ratio, {ratio - half, ratio + half}};
}

Estimate ExpOf(const Estimate& estimate) {
  return {std::exp(estimate.value), {std::exp(estimate.ci95.low), std::exp(estimate.ci95.high)}};
}

}  // namespace punt
