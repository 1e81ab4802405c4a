// Joint threshold (LLaDA2.1, arXiv 2602.08676; its generate()): commit what is sure, and edit what no longer is.
//
// Idea. A model that was also trained on wrong tokens says at filled positions, too, what should stand there. So tokens
// may be drafted boldly, because the passes that follow correct them. Every step, from one pass:
//
//   mask to token    commit each proposal with p(y) > tau; if there is none, the most probable one
//   token to token   replace each token of the window by what is now proposed in its place, if that is another token
//   and
//                    its p(y) > edit
//
// A window without masks is edited until a step finds nothing to change, or for `post` steps; these are passes like any
// other. tau=0.7,edit=0.5 is the authors' "quality" setting, tau=0.5,edit=0 their "speed"; edit=1 never edits.
//
// When. LLaDA2.1, with temperature 0 and windows of 32. Other models have not learnt to see wrong tokens: at a filled
// position they mostly repeat what is there.
//
// Decided here. Probabilities are those of a row without the mask, as everywhere; the original's include it. At a
// temperature above 0 the edits are drawn as well. A proposal deprioritised by the EOS policy counts as p = 0. The
// authors' loop breaks only by the count; so does this one, after which the next window is entered.
//
// Tested by joint_threshold_test.cc, generator_test.cc, conformance_test.cc.
#include <algorithm>

#include "plan/planner_rows.h"
#include "plan/selection.h"

namespace punt {
namespace {

const ParamRow kParams[] = {
    {"tau", ParamKind::kReal, "0.7", "probability above which a token is committed", 0, 1},
    {"edit", ParamKind::kReal, "0.5", "probability above which another token replaces the one in place", 0, 1},
    {"post", ParamKind::kInteger, "16", "most steps in which a window without masks is edited", 0, 1e6},
};

class JointThresholdPlanner : public Planner {
 public:
  explicit JointThresholdPlanner(const Params& params)
      : tau_(params.Real("tau")), edit_(params.Real("edit")), post_(params.Integer("post")) {}

  PlannerNeeds needs() const override { return {.revealed_rows = true, .revisits = post_}; }

  Plan Decide(const StepView& view) const override {
    Plan plan;
    const std::vector<double> probs = TokenProbs(view.proposals);
    std::vector<bool> taken;
    for (double prob : probs) taken.push_back(prob > tau_);
    const bool none = std::find(taken.begin(), taken.end(), true) == taken.end();
    plan.commit = PositionsWhere(view.proposals, none ? MarkLargest(probs, 1) : taken);
    for (const Proposal& proposal : view.revealed) {
      const Token standing = view.canvas.tokens()[static_cast<std::size_t>(proposal.position)];
      if (proposal.token != standing && TokenProb(proposal) > edit_) plan.edit.push_back(proposal.position);
    }
    return plan;
  }

 private:
  double tau_;
  double edit_;
  int post_;
};

}  // namespace

const PlannerRow kJointThresholdRow = {
    .name = "joint-threshold",
    .summary = "commit what is surer than tau, and replace tokens where another one is surer than edit",
    .params = kParams,
    .make = Make<JointThresholdPlanner>,
    .remasks = true,
};

}  // namespace punt
