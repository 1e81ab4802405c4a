#include "tasks/math/rational.h"

#include <limits>
#include <numeric>

namespace punt {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();

std::optional<std::int64_t> Product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

std::optional<std::int64_t> Sum(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}

}  // namespace

std::optional<Rational> MakeRational(std::int64_t numerator, std::int64_t denominator) {
  // The lowest number has no negative.
  if (denominator == 0 || numerator == kLowest || denominator == kLowest) return std::nullopt;
  const std::int64_t divisor = std::gcd(numerator, denominator) * (denominator < 0 ? -1 : 1);
  return Rational{numerator / divisor, denominator / divisor};
}

std::optional<Rational> Add(const Rational& a, const Rational& b) {
  const std::int64_t common = std::gcd(a.denominator, b.denominator);
  const auto left = Product(a.numerator, b.denominator / common);
  const auto right = Product(b.numerator, a.denominator / common);
  const auto denominator = Product(a.denominator, b.denominator / common);
  if (!left || !right || !denominator) return std::nullopt;
  const auto numerator = Sum(*left, *right);
  if (!numerator) return std::nullopt;
  return MakeRational(*numerator, *denominator);
}

std::optional<Rational> Subtract(const Rational& a, const Rational& b) {
  return Add(a, {-b.numerator, b.denominator});  // never the lowest number: MakeRational refuses it
}

std::optional<Rational> Multiply(const Rational& a, const Rational& b) {
  const auto left = MakeRational(a.numerator, b.denominator);
  const auto right = MakeRational(b.numerator, a.denominator);
  if (!left || !right) return std::nullopt;
  const auto numerator = Product(left->numerator, right->numerator);
  const auto denominator = Product(left->denominator, right->denominator);
  if (!numerator || !denominator) return std::nullopt;
  return MakeRational(*numerator, *denominator);
}

std::optional<Rational> Divide(const Rational& a, const Rational& b) {
  const auto inverse = MakeRational(b.denominator, b.numerator);
  if (!inverse) return std::nullopt;
  return Multiply(a, *inverse);
}

std::optional<Rational> ParseDecimal(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  std::int64_t digits = 0;
  std::int64_t scale = 1;
  bool has_digit = false;
  bool has_point = false;
  for (char c : text) {
    if (c == '.' && !has_point) {
      has_point = true;
      continue;
    }
    if (c < '0' || c > '9') return std::nullopt;
    has_digit = true;
    const auto shifted = Product(digits, 10);
    const auto next = shifted ? Sum(*shifted, c - '0') : std::nullopt;
    const auto wider = has_point ? Product(scale, 10) : scale;
    if (!next || !wider) return std::nullopt;
    digits = *next;
    scale = *wider;
  }
  if (!has_digit) return std::nullopt;
  return MakeRational(is_negative ? -digits : digits, scale);
}

}  // namespace punt
