// 95 % confidence intervals.
#pragma once

#include <cstdint>
#include <span>

namespace punt {

struct Interval {
  double low = 0;
  double high = 0;
};

/// A number with its interval; without enough items to say, the interval is the number itself.
struct Estimate {
  double value = 0;
  Interval ci95;
};

/// Wilson's interval for a share: stays within [0, 1] and keeps a width at 0 and 1. `trials` > 0.
Estimate ShareOf(std::int64_t successes, std::int64_t trials);

/// The mean, normal approximation. `values` is not empty.
Estimate MeanOf(std::span<const double> values);

/// sum(parts) / sum(wholes), as of nats over tokens: items weigh what their whole weighs. Normal approximation of the
/// linearised ratio. Same sizes, sum(wholes) > 0.
Estimate RatioOf(std::span<const double> parts, std::span<const double> wholes);

/// Of nats per token, a perplexity: the exponential of the value and of the interval's ends.
Estimate ExpOf(const Estimate& estimate);

}  // namespace punt
