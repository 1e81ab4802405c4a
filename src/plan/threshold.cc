// Threshold (Fast-dLLM, Wu et al. 2025, arXiv 2505.22618): commit everything the model is sure of.
//
// Idea. If every token committed together has probability close to one, the product of the marginals is
// close to the joint, however the tokens depend on each other. Commit the best position, and every other
// whose proposed token has probability >= tau. One pass per step; harder texts take more steps.
// Uncertain but independent tokens are committed one at a time.
//
// Decided here. The comparison is on p(y) of the proposals; "the best" is by the run's score, which is the
// same thing with score `token-prob`. A proposal deprioritised by the EOS policy counts as p = 0.
//
// Tested by threshold_test.cc, conformance_test.cc.
#include "plan/planner_rows.h"
#include "plan/selection.h"

namespace punt {
namespace {

const ParamRow kParams[] = {
    {"tau", ParamKind::kReal, "0.9", "probability from which a token is committed", 0, 1},
};

class ThresholdPlanner : public Planner {
 public:
  explicit ThresholdPlanner(const Params& params) : tau_(params.Real("tau")) {}

  Plan Decide(const StepView& view) const override {
    Plan plan{.commit = {view.proposals.front().position}};
    for (const Proposal& proposal : view.proposals.subspan(1)) {
      if (TokenProb(proposal) >= tau_) plan.commit.push_back(proposal.position);
    }
    return plan;
  }

 private:
  double tau_;
};

}  // namespace

const PlannerRow kThresholdRow = {
    .name = "threshold",
    .summary = "commit the best position and every other with token probability >= tau",
    .params = kParams,
    .make = Make<ThresholdPlanner>,
};

}  // namespace punt
