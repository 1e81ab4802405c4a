// Top-k: commit the k most confident positions of every step.
//
// The plain parallel sampler and the baseline that every other method has to beat: it assumes that k
// tokens drawn from their own marginals fit together. They do when they are independent given the canvas,
// and nothing here checks whether they are; the error grows with k.
// NFE = ceil(G / k) for G positions to generate, and no test passes. k = 1 is the sequential reference in
// confidence order: it reproduces the joint of an exact model.
//
// LLaDA's `generate` with one block is this with k = G / steps (Nie et al. 2025, arXiv 2502.09992).
// Its uneven quotas (one more in the first steps when steps does not divide G) are not reproduced: k is
// constant and the last step takes what is left.
//
// Tested by top_k_test.cc, conformance_test.cc, exactness_test.cc.
#include <algorithm>

#include "plan/planner_rows.h"
#include "plan/selection.h"

namespace punt {
namespace {

const ParamRow kParams[] = {
    {"k", ParamKind::kInteger, "1", "positions committed per step", 1, 1e6},
};

class TopKPlanner : public Planner {
 public:
  explicit TopKPlanner(const Params& params) : k_(static_cast<std::size_t>(params.Integer("k"))) {}

  Plan Decide(const StepView& view) const override {
    return {.commit = PositionsOf(view.proposals.first(std::min(k_, view.proposals.size())))};
  }

 private:
  std::size_t k_;
};

}  // namespace

const PlannerRow kTopKRow = {
    .name = "top-k",
    .summary = "commit the k most confident positions",
    .params = kParams,
    .make = Make<TopKPlanner>,
};

}  // namespace punt
