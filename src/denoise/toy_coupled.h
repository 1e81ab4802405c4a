// Forests of random tables with a given strength of coupling, for the product, markov and tree toys.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "denoise/toy_forest.h"
#include "punt/types.h"

namespace punt {

/// A forest of random tables, all from `seed`. Node n > 0 with parent m has the table
///   T[a][b] = (1 - coupling) q_n[b] + coupling [b == pi_n(a)]
/// with q_n from a symmetric Dirichlet law and pi_n a uniformly random permutation of the states: coupling 0
/// is a product, coupling 1 is deterministic given the root. Roots are distributed as q_n.
struct CoupledForest {
  int states = 8;
  std::uint64_t seed = 0;
  double coupling = 0.9;
  double concentration = 1.0;
  bool permute = false;  // nodes take positions in a random order instead of their own
};

/// node_parents[n] < n, or -1 for a root. Throws Error when the tables would not fit (2^25 numbers).
std::unique_ptr<const ForestModel> MakeCoupledForest(const CoupledForest& options,
                                                     std::span<const Position> node_parents);

}  // namespace punt
