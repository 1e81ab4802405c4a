// The words every layer shares. Shape letters, used in comments throughout:
// B batch, L length, R rows asked, D model dim, H heads, V vocabulary.
#pragma once

#include <cstddef>
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

/// What a denoiser in blocks keeps of texts it has seen, for those that begin alike. Tokens are counted once for each
/// run, when a block has become context.
struct BlockCacheStats {
  std::size_t bytes = 0;
  std::size_t bytes_in_use = 0;    // by passes that still exist; these are never dropped
  std::int64_t reused_tokens = 0;  // keys and values were there, from another run
  std::int64_t computed_tokens = 0;
  std::int64_t dropped_blocks = 0;  // to keep within the bound
};

}  // namespace punt
