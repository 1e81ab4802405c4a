// A model with tokens that change the length of a text, for tests.
#pragma once

#include <cmath>
#include <vector>

#include "denoise/row_model_testing.h"
#include "punt/random.h"

namespace punt::length_testing {

constexpr Token kA = 0, kB = 1, kExpand = 2, kRemove = 3, kMask = 4;
constexpr int kVocab = 5;

inline DenoiserInfo InfoOf(int max_length) {
  return {.name = "rows",
          .vocab_size = kVocab,
          .mask_token = kMask,
          .max_length = max_length,
          .default_score = "token-prob",
          .length_tokens = {.expand = kExpand, .remove = kRemove}};
}

/// Rows that depend on everything, in no simple way.
inline std::vector<double> Erratic(std::span<const Token> canvas, Position position) {
  std::uint64_t state = static_cast<std::uint64_t>(position) + 77;
  for (Token token : canvas) state = Mix64(state * 8 + static_cast<std::uint64_t>(token));
  RandomStream random(Mix64(state));
  std::vector<double> row(kVocab, -INFINITY);
  for (Token token : {kA, kB, kExpand, kRemove}) row[static_cast<std::size_t>(token)] = 2 * random.Uniform();
  return row;
}

}  // namespace punt::length_testing
