// Arithmetic expressions as answers to Countdown. countdown_expression.cc says what is understood.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/math/rational.h"

namespace punt {

struct ArithmeticResult {
  Rational value;
  std::vector<std::int64_t> numbers;  // every number written, in order
};

/// Nothing for anything but a whole expression, for a division by zero and for values beyond 64 bits.
std::optional<ArithmeticResult> EvaluateExpression(std::string_view text);

/// The expression that a response answers with, in the plain notation that EvaluateExpression reads. Nothing when there
/// is none.
std::optional<std::string> ExtractExpression(std::string_view response);

}  // namespace punt
