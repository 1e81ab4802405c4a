// Checks on entry to every exact model. Sessions have already checked their input; these catch bugs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "base/check.h"
#include "denoise/exact_model.h"
#include "punt/types.h"

namespace punt {

/// The arguments of ExactModel::Conditionals.
inline void CheckConditionals(const ExactModel& model, std::span<const Token> canvas, std::span<double> out) {
  Check(canvas.size() <= static_cast<std::size_t>(model.length()), "a canvas longer than its exact model");
  Check(out.size() == canvas.size() * static_cast<std::size_t>(model.states()), "conditionals of a wrong size");
  Check(std::all_of(canvas.begin(), canvas.end(), [](Token token) { return token >= 0; }), "a negative token");
}

/// The argument of ExactModel::Probability.
inline void CheckSequence(const ExactModel& model, std::span<const Token> tokens) {
  Check(tokens.size() == static_cast<std::size_t>(model.length()), "the probability of a part of a sequence");
  const auto is_state = [&](Token token) { return token >= 0 && token < model.states(); };
  Check(std::all_of(tokens.begin(), tokens.end(), is_state), "the probability of a sequence with masks");
}

}  // namespace punt
