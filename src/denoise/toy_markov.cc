// Toy "markov": a chain in which each position follows the one before it.
//
// The step from one node to the next is T[a][b] = (1 - coupling) q[b] + coupling [b == pi(a)], with separate
// tables for each edge: with probability `coupling` the next token is a fixed function of this one, else it is
// drawn from a distribution that does not depend on it. Coupling 0 is exactly a product (the `product` toy of
// the same seed), coupling 1 leaves only the first token free.
//
// Revealed tokens separate a chain, so the set that may be committed in parallel is known: positions between
// which a token is revealed, or that are far apart. With permute=true the chain visits the positions in a
// random order; the law is the same up to names, but spacing in positions says nothing about dependence.
//
// Conditionals by forward-backward (toy_forest.cc), O(L V^2). Tested by toy_families_test.cc.
#include <array>
#include <numeric>
#include <vector>

#include "denoise/toy_coupled.h"
#include "denoise/toys.h"

namespace punt {
namespace {

constexpr int kMaxLength = 65536;
constexpr int kMaxVocab = 1024;

std::shared_ptr<const Denoiser> Make(const Params& params) {
  const CoupledForest options = {.states = params.Integer("vocab"),
                                 .seed = static_cast<std::uint64_t>(params.Integer("seed")),
                                 .coupling = params.Real("coupling"),
                                 .concentration = params.Real("concentration"),
                                 .permute = params.Boolean("permute")};
  std::vector<Position> parents(static_cast<std::size_t>(params.Integer("length")));
  std::iota(parents.begin(), parents.end(), -1);
  return MakeExactDenoiser(ToyName(params), MakeCoupledForest(options, parents), params.Integer("eos"));
}

}  // namespace

ToyRow MarkovToy() {
  static const std::array<ParamRow, 7> params = {LengthParam(kMaxLength), VocabParam(kMaxVocab, "8"), SeedParam(),
                                                 CouplingParam(),         ConcentrationParam(),       PermuteParam(),
                                                 EosParam(kMaxVocab)};
  return {.name = "markov",
          .summary = "a chain along the positions, or through them in a random order",
          .params = params,
          .make = Make};
}

}  // namespace punt
