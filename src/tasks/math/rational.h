// Exact fractions of 64-bit numbers. An operation whose result (or a number on the way to it) does not fit returns
// nothing: a value is exact or there is none.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace punt {

/// In lowest terms, so that equal values are equal members.
struct Rational {
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;  // > 0

  friend bool operator==(const Rational&, const Rational&) = default;
};

/// Nothing when the denominator is 0.
std::optional<Rational> MakeRational(std::int64_t numerator, std::int64_t denominator);

std::optional<Rational> Add(const Rational& a, const Rational& b);
std::optional<Rational> Subtract(const Rational& a, const Rational& b);
std::optional<Rational> Multiply(const Rational& a, const Rational& b);
std::optional<Rational> Divide(const Rational& a, const Rational& b);

/// "12", "-12", "+3", "0.25", ".5", "7.": digits with at most one point; nothing else around them.
std::optional<Rational> ParseDecimal(std::string_view text);

}  // namespace punt
