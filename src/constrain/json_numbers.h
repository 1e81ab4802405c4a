// JSON's numbers between bounds, as patterns of decimal digits.
#pragma once

#include <optional>

#include "constrain/pattern.h"

namespace punt {

struct NumberBounds {
  std::optional<double> min;
  std::optional<double> max;
  bool is_above_min = false;  // the bound itself is not allowed
  bool is_below_max = false;
};

/// Whole numbers within the bounds, without leading zeros. Nothing when there are none. Numbers beyond 2^53 are left
/// out where there is a bound.
PatternRef WholeNumbers(const NumberBounds& bounds);

/// Numbers within the bounds. Between two bounds, fractions lie between neighbouring whole numbers that are both
/// allowed, with at most 6 digits; without bounds there are exponents too.
PatternRef Numbers(const NumberBounds& bounds);

}  // namespace punt
