#include "constrain/json_numbers.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/error_testing.h"
#include "constrain/byte_automaton.h"
#include "punt/random.h"

namespace punt {
namespace {

bool Allows(const NumberBounds& bounds, double value) {
  if (bounds.min && (value < *bounds.min || (bounds.is_above_min && value == *bounds.min))) return false;
  return !(bounds.max && (value > *bounds.max || (bounds.is_below_max && value == *bounds.max)));
}

TEST(JsonNumbers, WholeNumbersBetweenBounds) {
  RandomStream random(3);
  const auto draw = [&]() -> std::optional<double> {
    if (random.Below(5) == 0) return std::nullopt;
    return (static_cast<double>(random.Below(2600)) - 1300) / (random.Below(2) == 0 ? 1 : 4);
  };
  int compared = 0;
  for (int round = 0; round < 150; ++round) {
    const NumberBounds bounds{
        .min = draw(), .max = draw(), .is_above_min = random.Below(2) == 0, .is_below_max = random.Below(2) == 0};
    const PatternRef pattern = WholeNumbers(bounds);
    std::optional<ByteAutomaton> automaton;
    if (!pattern->is_nothing()) automaton = Compile(pattern, "it");
    for (int value = -1500; value <= 1500; ++value) {
      ASSERT_EQ(automaton && automaton->Matches(std::to_string(value)), Allows(bounds, value))
          << value << " in " << bounds.min.value_or(-1e9) << ".." << bounds.max.value_or(1e9);
      ++compared;
    }
    if (!automaton) continue;
    EXPECT_FALSE(automaton->Matches("01") || automaton->Matches("") || automaton->Matches("-"));
  }
  EXPECT_GT(compared, 400'000);
}

TEST(JsonNumbers, FractionsStayWithinTheirBounds) {
  RandomStream random(4);
  int allowed = 0;
  for (int round = 0; round < 60; ++round) {
    const double low = static_cast<double>(random.Below(40)) / 2 - 10;
    const NumberBounds bounds{.min = low,
                              .max = low + static_cast<double>(random.Below(20)) / 2,
                              .is_above_min = random.Below(2) == 0,
                              .is_below_max = random.Below(2) == 0};
    const PatternRef pattern = Numbers(bounds);
    if (pattern->is_nothing()) continue;
    const ByteAutomaton automaton = Compile(pattern, "it");
    for (const char* fraction : {"", ".0", ".000", ".25", ".999999", ".5"}) {
      for (int whole = -12; whole <= 22; ++whole) {
        for (const char* sign : {"", "-"}) {
          const std::string text = fmt::format("{}{}{}", sign, *sign ? std::abs(whole) : whole, fraction);
          if (!automaton.Matches(text)) continue;
          ++allowed;
          ASSERT_TRUE(Allows(bounds, std::stod(text))) << text << " in " << *bounds.min << ".." << *bounds.max;
        }
      }
    }
  }
  EXPECT_GT(allowed, 1000);
  const ByteAutomaton share = Compile(Numbers({.min = 0, .max = 1}), "it");
  EXPECT_TRUE(share.Matches("0") && share.Matches("1") && share.Matches("0.125") && !share.Matches("1.5"));
  const ByteAutomaton any = Compile(Numbers({}), "it");
  EXPECT_TRUE(any.Matches("-12.5e+10") && any.Matches("0") && any.Matches("1E5") && any.Matches("0.10"));
  EXPECT_FALSE(any.Matches("01") || any.Matches("1.") || any.Matches(".5") || any.Matches("+1") || any.Matches("1e"));
}

TEST(JsonNumbers, LargeBoundsStayExact) {
  EXPECT_TRUE(WholeNumbers({.min = 1e300})->is_nothing());
  const ByteAutomaton automaton = Compile(WholeNumbers({.min = -1e300, .max = 9007199254740992.0}), "it");
  EXPECT_TRUE(automaton.Matches("9007199254740992") && automaton.Matches("-9007199254740992"));
  EXPECT_FALSE(automaton.Matches("9007199254740993") || automaton.Matches("-9007199254740993"));
}

}  // namespace
}  // namespace punt
