// Random tables for toy models. Every draw is keyed by (seed, part, node), so a model is a pure function
// of its spec, and models that share a seed share whatever parts they have in common.
#pragma once

#include <cstdint>
#include <vector>

#include "punt/random.h"
#include "punt/types.h"

namespace punt {

/// What a stream of a toy model is drawn for.
enum class ToyPart : std::uint64_t { kTable = 0, kPermutation = 1, kOrder = 2, kShape = 3, kWeights = 4 };

RandomStream ToyStream(std::uint64_t seed, ToyPart part, Position node);

/// A point of the simplex with `states` corners, from the symmetric Dirichlet law; concentration > 0.
std::vector<double> DrawDirichlet(int states, double concentration, RandomStream& stream);

/// A uniformly random order of 0..count-1.
std::vector<Position> DrawPermutation(int count, RandomStream& stream);

}  // namespace punt
