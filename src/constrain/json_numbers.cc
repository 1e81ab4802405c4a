// The numbers from a to b, as text: numbers of the same length share their first digits and then fall into three parts:
// those that go on as a does, those that go on as b does, and those between, whose later digits are free.
//
// Tested by json_numbers_test.cc against counting.
#include "constrain/json_numbers.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace punt {
namespace {

constexpr double kExact = 0x1p53;
constexpr std::int64_t kMostWithFraction = 1'000'000'000;  // 6 more digits are exact in a double
constexpr int kFractionDigits = 6;

PatternRef Digit(char first, char last) {
  if (first > last) return Nothing();
  return Characters(CharacterSet({{static_cast<char32_t>(first), static_cast<char32_t>(last)}}));
}

PatternRef Digits(int min, int max) { return Repeat(Digit('0', '9'), min, max); }

/// Digit strings from `low` to `high`, of the same length.
PatternRef SameLength(const std::string& low, const std::string& high) {
  const auto length = static_cast<int>(low.size());
  if (low == std::string(low.size(), '0') && high == std::string(high.size(), '9')) return Digits(length, length);
  const std::string low_rest = low.substr(1), high_rest = high.substr(1);
  if (low[0] == high[0]) return Sequence({Bytes(low.substr(0, 1)), SameLength(low_rest, high_rest)});
  return Alternatives(
      {Sequence({Bytes(low.substr(0, 1)), SameLength(low_rest, std::string(low_rest.size(), '9'))}),
       Sequence({Digit(static_cast<char>(low[0] + 1), static_cast<char>(high[0] - 1)), Digits(length - 1, length - 1)}),
       Sequence({Bytes(high.substr(0, 1)), SameLength(std::string(high_rest.size(), '0'), high_rest)})});
}

/// From `low` >= 0 to `high`, or without end.
PatternRef Natural(std::int64_t low, std::optional<std::int64_t> high) {
  if (high && *high < low) return Nothing();
  std::vector<PatternRef> parts;
  if (low == 0) parts.push_back(Bytes("0"));
  std::string from = std::to_string(std::max<std::int64_t>(low, 1));
  if (!high) {
    parts.push_back(SameLength(from, std::string(from.size(), '9')));
    parts.push_back(Sequence({Digit('1', '9'), Digits(static_cast<int>(from.size()), Pattern::kUnbounded)}));
    return Alternatives(std::move(parts));
  }
  if (*high == 0) return Alternatives(std::move(parts));
  const std::string to = std::to_string(*high);
  while (from.size() < to.size()) {
    parts.push_back(SameLength(from, std::string(from.size(), '9')));
    from.assign(from.size() + 1, '0');
    from[0] = '1';
  }
  parts.push_back(SameLength(from, to));
  return Alternatives(std::move(parts));
}

/// Whole numbers from `low` to `high`, each followed by `more`.
PatternRef Whole(std::optional<std::int64_t> low, std::optional<std::int64_t> high) {
  PatternRef positive = high && *high < 0 ? Nothing() : Natural(std::max<std::int64_t>(low.value_or(0), 0), high);
  if (low && *low >= 0) return positive;
  const std::int64_t nearest = high ? std::max<std::int64_t>(-*high, 1) : 1;
  PatternRef negative = Natural(nearest, low ? std::optional(-*low) : std::nullopt);
  return Alternatives({std::move(positive), Sequence({Bytes("-"), std::move(negative)})});
}

std::int64_t Clamped(double value) { return static_cast<std::int64_t>(std::clamp(value, -kExact, kExact)); }

std::optional<std::int64_t> Lowest(const NumberBounds& bounds) {
  if (!bounds.min) return std::nullopt;
  const double up = std::ceil(*bounds.min);
  return Clamped(bounds.is_above_min && up == *bounds.min ? up + 1 : up);
}

std::optional<std::int64_t> Highest(const NumberBounds& bounds) {
  if (!bounds.max) return std::nullopt;
  const double down = std::floor(*bounds.max);
  return Clamped(bounds.is_below_max && down == *bounds.max ? down - 1 : down);
}

bool IsBeyond(const NumberBounds& bounds) {
  return (bounds.min && *bounds.min > kExact) || (bounds.max && *bounds.max < -kExact);
}

}  // namespace

PatternRef WholeNumbers(const NumberBounds& bounds) {
  if (IsBeyond(bounds)) return Nothing();
  return Whole(Lowest(bounds), Highest(bounds));
}

PatternRef Numbers(const NumberBounds& bounds) {
  if (IsBeyond(bounds)) return Nothing();
  const PatternRef point = Bytes(".");
  if (!bounds.min && !bounds.max) {
    const PatternRef sign = Characters(CharacterSet({{'+', '+'}, {'-', '-'}}));
    const PatternRef e = Characters(CharacterSet({{'E', 'E'}, {'e', 'e'}}));
    return Sequence({Optional(Bytes("-")), Natural(0, std::nullopt),
                     Optional(Sequence({point, Digits(1, Pattern::kUnbounded)})),
                     Optional(Sequence({e, Optional(sign), Digits(1, 2)}))});
  }
  const PatternRef fraction = Sequence({point, Digits(1, kFractionDigits)});
  // k.f lies in [k, k + 1), and -k.f in (-(k + 1), -k].
  const std::int64_t most = kMostWithFraction;
  const std::int64_t first = std::max<std::int64_t>(Lowest(bounds).value_or(0), 0);
  const std::int64_t last = bounds.max ? std::min(Clamped(std::floor(*bounds.max)) - 1, most) : most;
  const std::int64_t nearest = std::max<std::int64_t>(-Highest(bounds).value_or(0), 0);
  const std::int64_t farthest = bounds.min ? std::min(Clamped(std::floor(-*bounds.min)) - 1, most) : most;
  return Alternatives({WholeNumbers(bounds), first <= last ? Sequence({Natural(first, last), fraction}) : Nothing(),
                       nearest <= farthest ? Sequence({Bytes("-"), Natural(nearest, farthest), fraction}) : Nothing()});
}

}  // namespace punt
