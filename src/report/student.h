// Student's t distribution.
#pragma once

#include <cstdint>

namespace punt {

/// P(|T| <= t) of `degrees` >= 1 degrees of freedom, t >= 0. Takes time in proportion to the degrees.
double StudentWithin(double t, std::int64_t degrees);

/// The t with P(|T| <= t) = 0.95: how many standard errors the 95 % interval of a mean of degrees + 1 items extends to
/// each side. `degrees` >= 1. To about nine digits.
double StudentReach95(std::int64_t degrees);

}  // namespace punt
