// Random order: commit k positions drawn uniformly from the masked ones.
//
// With k = 1 this is the second sequential reference, and the order in which masked diffusion models are
// trained: every order is equally likely. With k > 1 it shows what parallel sampling costs when nothing
// is known about the positions. ceil(G / k) passes.
//
// Every position draws a number from its own stream of this step; the k largest are committed. So the
// draw is without replacement, and does not depend on how many positions there are or in which order
// they are looked at.
//
// Tested by random_test.cc, conformance_test.cc, exactness_test.cc.
#include "punt/random.h"

#include "plan/planner_rows.h"
#include "plan/selection.h"

namespace punt {
namespace {

const ParamRow kParams[] = {
    {"k", ParamKind::kInteger, "1", "positions committed per step", 1, 1e6},
};

class RandomPlanner : public Planner {
 public:
  explicit RandomPlanner(const Params& params) : k_(static_cast<std::size_t>(params.Integer("k"))) {}

  Plan Decide(const StepView& view) const override {
    std::vector<double> keys;
    keys.reserve(view.proposals.size());
    for (const Proposal& proposal : view.proposals) {
      keys.push_back(RandomStream(view.key, proposal.position, Purpose::kPlan).Uniform());
    }
    return {.commit = PositionsWhere(view.proposals, MarkLargest(keys, k_))};
  }

 private:
  std::size_t k_;
};

}  // namespace

const PlannerRow kRandomRow = {
    .name = "random",
    .summary = "commit k positions drawn at random",
    .params = kParams,
    .make = Make<RandomPlanner>,
};

}  // namespace punt
