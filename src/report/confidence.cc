// Few items need Student's t: the normal interval of three values holds their mean in 81 of 100 cases, not in 95.
// Ratios are linearised (the delta method) and treated as means of the residuals of the items. Shares have Wilson's
// interval, which needs no t, because it does not use the spread of the items.
//
// Tested by: confidence_test.cc (coverage by simulation, ranges, Wilson's equation).
#include "report/confidence.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/check.h"
#include "report/student.h"

namespace punt {
namespace {

constexpr double kZ = 1.959963984540054;  // the normal quantile of 0.975

/// The part of the interval that lies in the range. Rounding may put the value itself outside (a mean of ones above 1).
Interval Within(const ValueRange& range, double value, const Interval& interval) {
  return {std::min(value, std::max(range.low, interval.low)), std::max(value, std::min(range.high, interval.high))};
}

struct Moments {
  double mean = 0;
  double variance_of_mean = 0;  // of two values or more
};

Moments MomentsOf(std::span<const double> values) {
  Check(!values.empty(), "the mean of nothing");
  const auto n = static_cast<double>(values.size());
  Moments moments{.mean = std::accumulate(values.begin(), values.end(), 0.0) / n};
  double squares = 0;
  for (const double value : values) squares += std::pow(value - moments.mean, 2);
  if (values.size() > 1) moments.variance_of_mean = squares / (n - 1) / n;
  return moments;
}

}  // namespace

Estimate ShareOf(std::int64_t successes, std::int64_t trials) {
  Check(trials > 0 && successes >= 0 && successes <= trials, "a share of nothing");
  const auto n = static_cast<double>(trials);
  const double share = static_cast<double>(successes) / n;
  const double centre = (share + kZ * kZ / (2 * n)) / (1 + kZ * kZ / n);
  const double half = kZ / (1 + kZ * kZ / n) * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n));
  if (trials < kLeastItems) return {share};
  // Rounding must not put the share itself outside.
  return {share, Interval{successes == 0 ? 0 : centre - half, successes == trials ? 1 : centre + half}};
}

Estimate MeanOf(std::span<const double> values, const ValueRange& range) {
  const std::vector<double> ones(values.size(), 1.0);
  return RatioOf(values, ones, range);
}

Estimate RatioOf(std::span<const double> parts, std::span<const double> wholes, const ValueRange& range) {
  Check(parts.size() == wholes.size() && !parts.empty(), "a ratio of nothing");
  const double whole = std::accumulate(wholes.begin(), wholes.end(), 0.0);
  Check(whole > 0, "a ratio to nothing");
  const double ratio = std::accumulate(parts.begin(), parts.end(), 0.0) / whole;
  if (std::ssize(parts) < kLeastItems) return {ratio};
  const auto n = static_cast<double>(parts.size());
  double squares = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) squares += std::pow(parts[i] - ratio * wholes[i], 2);
  const double half = StudentReach95(std::ssize(parts) - 1) * std::sqrt(squares * n / (n - 1)) / whole;
  return {ratio, Within(range, ratio, {ratio - half, ratio + half})};
}

Estimate DifferenceOf(std::span<const double> values, std::span<const double> others) {
  const Moments mine = MomentsOf(values), theirs = MomentsOf(others);
  const double difference = mine.mean - theirs.mean;
  const std::int64_t shorter = std::min(std::ssize(values), std::ssize(others));
  if (shorter < kLeastItems) return {difference};
  const double half = StudentReach95(shorter - 1) * std::sqrt(mine.variance_of_mean + theirs.variance_of_mean);
  return {difference, Interval{difference - half, difference + half}};
}

Estimate ExpOf(const Estimate& estimate) {
  Estimate result{std::exp(estimate.value)};
  if (estimate.ci95) result.ci95 = Interval{std::exp(estimate.ci95->low), std::exp(estimate.ci95->high)};
  return result;
}

}  // namespace punt
