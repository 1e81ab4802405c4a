// Gumbel-max in progress: what the vector loops of row_kernels_stats.cc and the plain loop share.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "punt/random.h"
#include "punt/types.h"

namespace punt {

/// argmax over the tokens considered so far, in any order, of logit + temperature * Gumbel; ties: lowest token.
struct GumbelDraw {
  double temperature = 1;
  std::uint64_t stream_name = 0;
  double best = -std::numeric_limits<double>::infinity();
  Token token = 0;

  void Consider(double logit, Token candidate) {
    const double value = logit + temperature * TokenGumbel(stream_name, candidate);
    if (value > best || (value == best && candidate < token)) {
      best = value;
      token = candidate;
    }
  }

  // A token's value is at most logit + Slope() * b + temperature * ln 2 * 143, where b is the integer that the
  // bits of float(TokenHash) are: 143 = 16 bits of hash and the exponent's bias of 127.
  float Slope() const { return static_cast<float>(-temperature * std::numbers::ln2 * 0x1p-23); }

  /// Tokens whose logit + Slope() * b, in float, is at or below this cannot win. The slack is several times the
  /// rounding error of that expression.
  float Limit() const {
    const double limit = best - temperature * std::numbers::ln2 * 143;
    return static_cast<float>(limit - 0x1p-19 * (std::abs(limit) + 256 * temperature));
  }

  /// Logits at or below this cannot win whatever their hash: no Gumbel exceeds 54 ln 2 (TokenUniform has 53 bits).
  float Hopeless() const {
    const double limit = best - temperature * std::numbers::ln2 * 54;
    return static_cast<float>(limit - 0x1p-19 * (std::abs(limit) + 256 * temperature));
  }

  /// Whether float has room for the bounds.
  bool HasBounds() const { return temperature > 1e-20 && temperature < 1e20; }
};

}  // namespace punt
