// Random numbers of evaluations: which puzzle, which length. Keyed by their purpose, a seed and an item's number,
// and independent of the streams that generation draws from.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/shuffle.h"
#include "punt/random.h"

namespace punt {

/// FNV-1a.
constexpr std::uint64_t HashText(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

inline RandomStream EvalStream(std::string_view what, std::uint64_t seed, std::uint64_t index) {
  const StreamKey key{.seed = seed, .sample = index};
  return RandomStream(Mix64(StreamName(key, -1, Purpose::kToyModel) ^ HashText(what)));
}

}  // namespace punt
