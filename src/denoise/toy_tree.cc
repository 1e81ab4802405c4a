// Toy "tree": a tree in which each position follows its parent, with the tables of the `markov` toy.
//
// shape=random hangs node n under a uniformly random earlier node (depth O(log L), a few nodes with many
// children); shape=binary is the heap, node n under (n-1)/2. Revealing a node separates its subtrees from one
// another: the separators of a tree are single tokens that free many at once, which no schedule by position
// can know. permute=true scatters the nodes over the positions.
//
// Conditionals by belief propagation (toy_forest.cc), O(L V^2). Tested by toy_families_test.cc.
#include <array>
#include <vector>

#include "denoise/toy_coupled.h"
#include "denoise/toy_random.h"
#include "denoise/toys.h"

namespace punt {
namespace {

constexpr int kMaxLength = 65536;
constexpr int kMaxVocab = 1024;

enum class Shape { kRandom, kBinary };

std::vector<Position> TreeParents(int nodes, Shape shape, std::uint64_t seed) {
  std::vector<Position> parents = {-1};
  for (Position node = 1; node < nodes; ++node) {
    RandomStream stream = ToyStream(seed, ToyPart::kShape, node);
    const auto earlier = static_cast<Position>(stream.Below(static_cast<std::uint64_t>(node)));
    parents.push_back(shape == Shape::kBinary ? (node - 1) / 2 : earlier);
  }
  return parents;
}

std::shared_ptr<const Denoiser> Make(const Params& params) {
  const CoupledForest options = {.states = params.Integer("vocab"),
                                 .seed = static_cast<std::uint64_t>(params.Integer("seed")),
                                 .coupling = params.Real("coupling"),
                                 .concentration = params.Real("concentration"),
                                 .permute = params.Boolean("permute")};
  const auto shape = static_cast<Shape>(params.ChoiceIndex("shape"));
  const std::vector<Position> parents = TreeParents(params.Integer("length"), shape, options.seed);
  return MakeExactDenoiser(ToyName(params), MakeCoupledForest(options, parents), params.Integer("eos"));
}

}  // namespace

ToyRow TreeToy() {
  static const std::array<ParamRow, 8> params = {LengthParam(kMaxLength),
                                                 VocabParam(kMaxVocab, "8"),
                                                 SeedParam(),
                                                 CouplingParam(),
                                                 ConcentrationParam(),
                                                 {.key = "shape",
                                                  .kind = ParamKind::kChoice,
                                                  .default_value = "random",
                                                  .help = "random: under any earlier node; binary: a heap",
                                                  .choices = {"random", "binary"}},
                                                 PermuteParam(),
                                                 EosParam(kMaxVocab)};
  return {.name = "tree", .summary = "a random or binary tree over the positions", .params = params, .make = Make};
}

}  // namespace punt
