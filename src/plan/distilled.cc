// PUNT distilled: the influence that PUNT's test passes find, predicted from the base pass instead of tested.
//
// Idea. PUNT reveals some proposals and drops those whose rows move. Which rows would move is a function of what the
// model has computed already, and a small head can learn it from verdicts of earlier tests (model/influence_head.h;
// `training/train influence`). With the matrix I(i, j), the divergence of row j when i alone is revealed, a step needs
// no test: go through the proposals by confidence, best first, and take each whose row the chosen ones together move by
// at most epsilon. The first is always taken. One pass per step.
//
// Direction. Only the influence of the chosen on the candidate counts, not the reverse. It is as if the tokens of a
// step were drawn one after another in the order of confidence, each from its row given those before it; what a later
// one would have done to an earlier one's row is not part of that product. PUNT tests the same: anchors are always more
// confident than what they test.
//
// Together. `sum` (the default) adds up the influences of the chosen ones, as the head was trained for;
// `max` uses only the largest and takes more. Neither is a bound: three tokens of which the third is the parity of
// the other two do not influence each other in pairs, and are all committed (exactness_test.cc). PUNT reveals sets, and
// detects this. On chains and trees no influence between pairs means none between sets, and epsilon = 0 commits only
// independent tokens.
//
// Related. DEMASK (arXiv 2604.02560) trains such a head for total variation, on the network's own training data. Here
// it is PUNT's divergence, on canvases that occur in generation, for any existing model.
//
// Exact toy models give their influence without a head, which shows what the planner is worth with perfect predictions.
//
// Tested by distilled_test.cc, exactness_test.cc, conformance_test.cc.
#include <algorithm>

#include "plan/planner_rows.h"
#include "plan/selection.h"

namespace punt {
namespace {

enum class Together { kSum, kMax };

const ParamRow kParams[] = {
    {"epsilon", ParamKind::kReal, "0.04", "largest predicted divergence at which a token counts as uninfluenced", 0,
     1e6},
    {"together", ParamKind::kChoice, "sum", "how influences of several tokens add up", 0, 0, {"sum", "max"}},
};

class DistilledPlanner : public Planner {
 public:
  explicit DistilledPlanner(const Params& params)
      : epsilon_(params.Real("epsilon")), together_(static_cast<Together>(params.ChoiceIndex("together"))) {}

  PlannerNeeds needs() const override { return {.influence = true}; }

  Plan Decide(const StepView& view) const override {
    const AttentionTable influence(view.influence, view.canvas.length());
    Plan plan;
    for (const Proposal& proposal : view.proposals) {
      double moved = 0;
      for (Position chosen : plan.commit) {
        const double by_one = influence.At(chosen, proposal.position);
        moved = together_ == Together::kSum ? moved + by_one : std::max(moved, by_one);
      }
      if (moved <= epsilon_) plan.commit.push_back(proposal.position);
    }
    return plan;
  }

 private:
  double epsilon_;
  Together together_;
};

}  // namespace

const PlannerRow kDistilledRow = {
    .name = "distilled",
    .summary = "commit confident tokens that a trained head says do not influence each other: PUNT without test passes",
    .params = kParams,
    .make = Make<DistilledPlanner>,
};

}  // namespace punt
