// Spacing: a filter after any planner that keeps its commits apart (DUS, Luxembourg et al. 2025, Sec. 4.4).
//
// Idea. Neighbours depend on each other most, and score-based planners like to commit them together,
// because the same context makes both certain. Go through the planner's commits best first and keep a
// position only if it is at least `gap` away from every one kept, |i - j| >= gap in canvas positions. The
// best always stays, so every step makes progress; what is dropped is proposed again in the next step. It costs
// only more steps. After PUNT it shows whether the tests left anything for geometry to find.
//
// Decided here. `gap` is constant (the original shrinks it as the block fills). Remasks and test rounds
// pass through. When a commit was dropped, the pass that the planner hands on would describe another canvas
// and is dropped as well, and fewer tokens are taken back than are committed. A planner that never takes more passes
// than there are tokens (pass_debt.h) keeps that promise in here: when it commits all that is left because no pass is
// left, all of it is kept, gap or not.
//
// Tested by spacing_test.cc, conformance_test.cc, tests/pass_bound_test.cc.
#include <algorithm>
#include <cstdlib>

#include "plan/pass_debt.h"
#include "plan/planner_rows.h"
#include "plan/selection.h"

namespace punt {
namespace {

const ParamRow kParams[] = {
    {"planner", ParamKind::kSpec, "punt", "the planner whose commits are filtered"},
    {"gap", ParamKind::kInteger, "2", "smallest distance of two commits of a step", 1, 1e6},
};

class SpacingPlanner : public Planner {
 public:
  explicit SpacingPlanner(const Params& params)
      : planner_(MakePlanner(params.Nested("planner"))), gap_(params.Integer("gap")) {}

  PlannerNeeds needs() const override { return planner_->needs(); }

  Plan Decide(const StepView& view) const override {
    Plan plan = planner_->Decide(view);
    if (needs().past_steps && IsLastPass(view)) return plan;
    std::vector<Position> kept;
    for (Position position : plan.commit) {
      const bool is_free =
          std::all_of(kept.begin(), kept.end(), [&](Position other) { return std::abs(position - other) >= gap_; });
      if (is_free) kept.push_back(position);
    }
    if (kept.size() == plan.commit.size()) return plan;
    plan.next_base = nullptr;
    plan.commit = std::move(kept);
    KeepProgress(plan);
    return plan;
  }

 private:
  std::shared_ptr<const Planner> planner_;
  int gap_;
};

}  // namespace

const PlannerRow kSpacingRow = {
    .name = "spacing",
    .summary = "filter another planner's commits: best first, at least gap apart",
    .params = kParams,
    .make = Make<SpacingPlanner>,
    .is_scheduled = true,  // these two if the inner planner is
    .remasks = true,
};

}  // namespace punt
