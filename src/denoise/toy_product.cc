// Toy "product": independent positions, each with its own random distribution.
//
// The law that every parallel sampler assumes and no real model has: here committing everything at once is exact, so
// a planner that needs more than one step wastes passes, and an independence test that rejects is wrong.
// A forest without edges. Conditionals cost O(L V).
//
// Tested by toy_families_test.cc.
#include <array>
#include <vector>

#include "denoise/toy_coupled.h"
#include "denoise/toys.h"

namespace punt {
namespace {

constexpr int kMaxLength = 65536;
constexpr int kMaxVocab = 32768;

std::shared_ptr<const Denoiser> Make(const Params& params) {
  const CoupledForest options = {.states = params.Integer("vocab"),
                                 .seed = static_cast<std::uint64_t>(params.Integer("seed")),
                                 .concentration = params.Real("concentration")};
  const std::vector<Position> parents(static_cast<std::size_t>(params.Integer("length")), -1);
  return MakeExactDenoiser(ToyName(params), MakeCoupledForest(options, parents), params.Integer("eos"));
}

}  // namespace

ToyRow ProductToy() {
  static const std::array<ParamRow, 5> params = {LengthParam(kMaxLength), VocabParam(kMaxVocab, "8"), SeedParam(),
                                                 ConcentrationParam(), EosParam(kMaxVocab)};
  return {.name = "product", .summary = "independent positions", .params = params, .make = Make};
}

}  // namespace punt
