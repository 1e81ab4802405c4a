// The block formats of GGUF whose 256 weights share one or two halves and have whole-number scales for every 16 or 32:
// K-quants but q4_K, and iq4_xs.
//
//   weight i = scale * factors[i / 16] * weights[i] - minimum * minima[i / 16]
#pragma once

#include <ggml.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/linear_kernels.h"

namespace punt {

struct ScaledBlock {
  ggml_fp16_t scale = 0;
  ggml_fp16_t minimum = 0;
  std::int8_t factors[kPieces] = {};
  std::int8_t minima[kPieces] = {};
  /// Of q2_K and q3_K from -4 to 3, with 8 added; of iq4_xs places in kIq4Values.
  std::int8_t weights[kStretch] = {};
};

/// `type` is q2_K, q3_K, q5_K, q6_K or iq4_xs.
ScaledBlock ReadScaledBlock(ggml_type type, const std::byte* bytes);

/// What the nibbles of iq4_nl and iq4_xs stand for.
inline constexpr std::int8_t kIq4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                               1,    13,   25,  38,  53,  69,  89,  113};

inline ggml_fp16_t ReadHalf(const std::byte* bytes) {
  ggml_fp16_t half = 0;
  std::memcpy(&half, bytes, sizeof(half));
  return half;
}

/// The scale and the minimum of block `j` of 8, 6 bits each, in the 12 bytes that q4_K and q5_K keep them in.
std::pair<unsigned, unsigned> ReadSixBits(const std::byte* bytes, std::int64_t j);

}  // namespace punt
