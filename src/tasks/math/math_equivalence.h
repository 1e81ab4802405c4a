// When are two answers to MATH the same? math_equivalence.cc has the rules.
#pragma once

#include <optional>
#include <string_view>

#include "tasks/math/rational.h"

namespace punt {

/// The name of the first rule by which the answers are equal; empty when there is none. Symmetric.
std::string_view EquivalenceRule(std::string_view a, std::string_view b);

/// The value of a number: whole, decimal, a/b, \frac{a}{b}, or mixed (1\frac{4}{5}), with a sign, thousands in commas,
/// dollar signs and degrees ignored. Nothing for anything else and for what does not fit 64 bits.
std::optional<Rational> NumberValue(std::string_view answer);

}  // namespace punt
