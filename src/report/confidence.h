// 95 % confidence intervals, all of which are made here.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace punt {

struct Interval {
  double low = 0;
  double high = 0;
};

/// A number with its interval; no interval with fewer than kLeastItems items, which say nothing about their spread.
struct Estimate {
  double value = 0;
  std::optional<Interval> ci95 = {};
};

inline constexpr std::int64_t kLeastItems = 3;

/// Where a quantity can lie. No interval leaves it.
struct ValueRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

inline constexpr ValueRange kAnyNumber = {};
inline constexpr ValueRange kNotNegative = {.low = 0};  // lengths, counts, nats, divergences
inline constexpr ValueRange kShares = {.low = 0, .high = 1};
inline constexpr ValueRange kCorrelations = {.low = -1, .high = 1};

/// Wilson's interval for a share: stays within [0, 1] and keeps a width at 0 and 1. `trials` > 0.
Estimate ShareOf(std::int64_t successes, std::int64_t trials);

/// The mean of values that lie in `range`; Student's t. `values` is not empty.
Estimate MeanOf(std::span<const double> values, const ValueRange& range);

/// sum(parts) / sum(wholes), such as nats over tokens: an item weighs as much as its whole. Student's t for the
/// linearised ratio, which lies in `range`. Same sizes, sum(wholes) > 0.
Estimate RatioOf(std::span<const double> parts, std::span<const double> wholes, const ValueRange& range);

/// The mean of `values` less that of `others`, which are independent of them. Student's t with the degrees of the
/// shorter list: too wide rather than too narrow. Neither is empty; no interval where either is short.
Estimate DifferenceOf(std::span<const double> values, std::span<const double> others);

/// The exponential of the value and of the interval's ends: a perplexity from nats per token.
Estimate ExpOf(const Estimate& estimate);

}  // namespace punt
