// Keyed randomness: a random number is a pure function of where it is used, never of when.
//
// A stream is named by (seed, sample, step, position, purpose); its n-th number is a hash of the name and
// n. Two streams with different names are independent for all practical purposes, and no state is shared,
// so any thread may draw any number in any order. All arithmetic is 64-bit; uniforms have 53 bits.
#pragma once

#include <cstdint>

#include "punt/types.h"

namespace punt {

/// Separates the streams of different users at the same position.
enum class Purpose : std::uint64_t { kProposal = 1, kScore = 2, kPlan = 3, kToyModel = 4, kLikelihood = 5 };

/// The finaliser of splitmix64: a bijection on 64 bits in which every input bit moves every output bit.
constexpr std::uint64_t Mix64(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  x ^= x >> 31;
  return x;
}

/// The 64-bit name of a stream.
constexpr std::uint64_t StreamName(const StreamKey& key, Position position, Purpose purpose) {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15u;
  std::uint64_t name = Mix64(key.seed + kGolden);
  name = Mix64(name ^ (key.sample + 2 * kGolden));
  name = Mix64(name ^ (key.step + 3 * kGolden));
  name = Mix64(name ^ (static_cast<std::uint64_t>(static_cast<std::int64_t>(position)) + 4 * kGolden));
  return Mix64(name ^ (static_cast<std::uint64_t>(purpose) + 5 * kGolden));
}

/// A cursor over one stream. Cheap to make and to copy.
class RandomStream {
 public:
  explicit RandomStream(std::uint64_t name) : name_(name) {}
  RandomStream(const StreamKey& key, Position position, Purpose purpose) : name_(StreamName(key, position, purpose)) {}

  std::uint64_t Next() { return Mix64(name_ + 0x9e3779b97f4a7c15u * ++count_); }

  /// Uniform in the open interval (0, 1), so that its logarithm is finite.
  double Uniform() { return (static_cast<double>(Next() >> 11) + 0.5) * 0x1p-53; }

  /// Standard Gumbel: -ln(-ln u).
  double Gumbel();

  /// Uniform in 0..n-1, up to a bias of n / 2^64; n > 0.
  std::uint64_t Below(std::uint64_t n) { return Next() % n; }

 private:
  std::uint64_t name_;
  std::uint64_t count_ = 0;
};

/// Randomness per vocabulary entry, for Gumbel-max over a row. The leading 16 bits come from a hash that
/// vectorises and that two tokens share, one half each, so that almost all tokens of a row can be ruled out
/// with little work; the remaining bits are made on demand.
inline constexpr Token kTokenPairDistance = 64;

constexpr std::uint32_t TokenPairHash(std::uint64_t stream_name, Token first_of_pair) {
  auto mix = [](std::uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    return x;
  };
  const auto low = static_cast<std::uint32_t>(stream_name);
  const auto high = static_cast<std::uint32_t>(stream_name >> 32);
  return mix(mix(static_cast<std::uint32_t>(first_of_pair) + low) ^ high);
}

/// 16 bits: the lower half of the pair's hash for its first token, the upper half for its second.
constexpr std::uint32_t TokenHash(std::uint64_t stream_name, Token token) {
  const bool is_second = (token & kTokenPairDistance) != 0;
  const std::uint32_t hash = TokenPairHash(stream_name, token & ~kTokenPairDistance);
  return is_second ? hash >> 16 : hash & 0xffffu;
}

/// w in (0, 1), 53 bits whose upper 16 are TokenHash. A small w makes a large Gumbel, and has full precision.
constexpr double TokenUniform(std::uint64_t stream_name, Token token) {
  const std::uint64_t more = Mix64(stream_name + 0x9e3779b97f4a7c15u * (static_cast<std::uint64_t>(token) + 1)) >> 27;
  const std::uint64_t bits = (static_cast<std::uint64_t>(TokenHash(stream_name, token)) << 37) | more;
  return (static_cast<double>(bits) + 0.5) * 0x1p-53;
}

/// The standard Gumbel of a token: -ln(-ln(1 - w)).
double TokenGumbel(std::uint64_t stream_name, Token token);

}  // namespace punt
