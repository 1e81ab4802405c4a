#include "kernels/scaled_blocks.h"

#include "base/check.h"

namespace punt {
namespace {

unsigned At(const std::byte* bytes, std::int64_t i) { return std::to_integer<unsigned>(bytes[i]); }

std::int8_t Small(unsigned value, int less = 0) { return static_cast<std::int8_t>(static_cast<int>(value) - less); }

/// Two bits of weight i: in each half of 128, four weights that are 32 apart share a byte.
unsigned TwoBits(const std::byte* bytes, std::int64_t i) {
  return At(bytes, i / 128 * 32 + i % 32) >> (i % 128 / 32 * 2) & 3;
}

/// Scales and minima, 4 bits each, of 16 pieces; two bits per weight; two halves.
ScaledBlock ReadQ2_K(const std::byte* bytes) {
  ScaledBlock block{.scale = ReadHalf(bytes + 80), .minimum = ReadHalf(bytes + 82)};
  for (std::int64_t piece = 0; piece < kPieces; ++piece) {
    block.factors[piece] = Small(At(bytes, piece) & 15);
    block.minima[piece] = Small(At(bytes, piece) >> 4);
  }
  for (std::int64_t i = 0; i < kStretch; ++i) block.weights[i] = Small(TwoBits(bytes + 16, i) + 8);
  return block;
}

/// 32 bytes of third bits, which say that 4 is not taken off; two bits per weight; scales of 6 bits in 12 bytes, 32
/// added: nibbles of 8 bytes, then pairs of upper bits, those of every fourth scale in a byte; a half.
ScaledBlock ReadQ3_K(const std::byte* bytes) {
  ScaledBlock block{.scale = ReadHalf(bytes + 108)};
  const std::byte* scales = bytes + 96;
  for (std::int64_t piece = 0; piece < kPieces; ++piece) {
    const unsigned low = At(scales, piece % 8) >> (piece / 8 * 4) & 15;
    const unsigned high = At(scales, 8 + piece % 4) >> (piece / 4 * 2) & 3;
    block.factors[piece] = Small(low | high << 4, 32);
  }
  for (std::int64_t i = 0; i < kStretch; ++i) {
    const unsigned third = At(bytes, i % 32) >> (i / 32) & 1;
    block.weights[i] = Small((TwoBits(bytes + 32, i) | third << 2) + 4);
  }
  return block;
}

/// Two halves and scales as in q4_K; 32 bytes of fifth bits, one per block of 32; nibbles, those of two blocks in 32
/// bytes.
ScaledBlock ReadQ5_K(const std::byte* bytes) {
  ScaledBlock block{.scale = ReadHalf(bytes), .minimum = ReadHalf(bytes + 2)};
  for (std::int64_t piece = 0; piece < kPieces; ++piece) {
    const auto [scale, minimum] = ReadSixBits(bytes + 4, piece / 2);
    block.factors[piece] = Small(scale);
    block.minima[piece] = Small(minimum);
  }
  for (std::int64_t i = 0; i < kStretch; ++i) {
    const std::int64_t j = i / kBlock;
    const unsigned low = At(bytes, 48 + j / 2 * kBlock + i % kBlock) >> (j % 2 * 4) & 15;
    const unsigned fifth = At(bytes, 16 + i % kBlock) >> j & 1;
    block.weights[i] = Small(low | fifth << 4);
  }
  return block;
}

/// 128 bytes of nibbles: in each half of 128 weights, 64 bytes hold the first 64 weights below and the others above;
/// 64 bytes of upper bits; 16 scales; a half. 32 is added to weights.
ScaledBlock ReadQ6_K(const std::byte* bytes) {
  ScaledBlock block{.scale = ReadHalf(bytes + 208)};
  for (std::int64_t piece = 0; piece < kPieces; ++piece) {
    block.factors[piece] = static_cast<std::int8_t>(At(bytes, 192 + piece));
  }
  for (std::int64_t i = 0; i < kStretch; ++i) {
    const unsigned low = At(bytes, i / 128 * 64 + i % 64) >> (i % 128 / 64 * 4) & 15;
    block.weights[i] = Small(low | TwoBits(bytes + 128, i) << 4, 32);
  }
  return block;
}

/// A half; upper bits of 8 scales, 2 each, then their lower 4, 32 added; nibbles of blocks of 32, the first 16 weights
/// below.
ScaledBlock ReadIq4Xs(const std::byte* bytes) {
  ScaledBlock block{.scale = ReadHalf(bytes)};
  const unsigned upper = At(bytes, 2) | At(bytes, 3) << 8;
  for (std::int64_t piece = 0; piece < kPieces; ++piece) {
    const std::int64_t j = piece / 2;
    const unsigned low = At(bytes, 4 + j / 2) >> (j % 2 * 4) & 15;
    block.factors[piece] = Small(low | (upper >> (2 * j) & 3) << 4, 32);
  }
  for (std::int64_t i = 0; i < kStretch; ++i) {
    block.weights[i] = Small(At(bytes, 8 + i / kBlock * 16 + i % 16) >> (i % kBlock / 16 * 4) & 15);
  }
  return block;
}

}  // namespace

std::pair<unsigned, unsigned> ReadSixBits(const std::byte* bytes, std::int64_t j) {
  if (j < 4) return {At(bytes, j) & 63, At(bytes, j + 4) & 63};
  return {(At(bytes, j + 4) & 15) | At(bytes, j - 4) >> 6 << 4, At(bytes, j + 4) >> 4 | At(bytes, j) >> 6 << 4};
}

ScaledBlock ReadScaledBlock(ggml_type type, const std::byte* bytes) {
  switch (type) {
    case GGML_TYPE_Q2_K:
      return ReadQ2_K(bytes);
    case GGML_TYPE_Q3_K:
      return ReadQ3_K(bytes);
    case GGML_TYPE_Q5_K:
      return ReadQ5_K(bytes);
    case GGML_TYPE_Q6_K:
      return ReadQ6_K(bytes);
    default:
      Check(type == GGML_TYPE_IQ4_XS, "a type without whole-number scales");
      return ReadIq4Xs(bytes);
  }
}

}  // namespace punt
