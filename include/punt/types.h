// The words every layer shares. Shape letters, used in comments throughout:
// B batch, L length, R rows asked, D model dim, H heads, V vocabulary.
#pragma once

#include <cstdint>

namespace punt {

/// An entry of the vocabulary, 0..V-1. The mask token is an entry like any other.
using Token = std::int32_t;

/// An index into a canvas, 0..L-1.
using Position = std::int32_t;

/// Names the random numbers of one step of one sequence. Together with a position and a purpose it
/// determines every draw, so results do not depend on threads, batches or processes.
struct StreamKey {
  std::uint64_t seed = 0;
  std::uint64_t sample = 0;
  std::uint64_t step = 0;
};

}  // namespace punt
