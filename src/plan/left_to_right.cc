// Left to right: commit the first masked position, one per step.
//
// The order of autoregressive models, and one of the two sequential references: whatever the order, a
// sampler that commits one token per step draws from the model's joint exactly, if its conditionals are
// exact. G passes for G positions. The score plays no part.
//
// Tested by left_to_right_test.cc, conformance_test.cc, exactness_test.cc.
#include <algorithm>

#include "plan/planner_rows.h"
#include "plan/selection.h"

namespace punt {
namespace {

class LeftToRightPlanner : public Planner {
 public:
  explicit LeftToRightPlanner(const Params&) {}

  Plan Decide(const StepView& view) const override {
    const std::vector<Position> masked = PositionsOf(view.proposals);
    return {.commit = {*std::min_element(masked.begin(), masked.end())}};
  }
};

}  // namespace

const PlannerRow kLeftToRightRow = {
    .name = "left-to-right",
    .summary = "commit the first masked position, one per step",
    .params = {},
    .make = Make<LeftToRightPlanner>,
};

}  // namespace punt
