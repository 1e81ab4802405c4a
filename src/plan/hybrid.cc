// Hybrid: one planner until a share of the scope is committed, another one after it.
//
// Idea (the paper's remark in Section 4.2). Early in a generation there is little context and everything
// influences everything: tests cost passes and keep few tokens. Later the canvas constrains the rest and
// tests pay. So let a cheap planner begin and PUNT finish, or the reverse. The cost is that of
// the two planners on their parts.
//
// The switch. It happens after the first step at whose end at least `at` of the scope is committed; for
// n positions that is k = ceil(at n) of them. Planners remember nothing, so the step is found in the
// canvas: it is the k-th smallest commit step of the scope's filled positions. That is exact even with
// planners that remask. Before the switch, history lost by a remask can only lower earlier counts,
// which were below k anyway. After it, the second planner is shown only what was masked at the switch as
// its scope, so the k commits that mark the switch are out of its reach.
//
// The second planner starts afresh: its scope is what was masked at the switch, its clock counts from
// there, and fraction() runs from 0 to 1 again. at = 0 is the second planner alone, at = 1 the first.
//
// Decided here. What the loop provides is the union of both planners' needs, for the whole run: the second
// may want a history that reaches back before the switch.
//   Some planners count passes and never take more of them than there are tokens (pass_debt.h). If the first is
// one of these, the second pays what the first owes at the switch: it is shown all steps, and when no pass is left,
// everything is committed, whatever it decides. If the first is not, the second counts from the switch, and owes
// nothing.
//
// Tested by hybrid_test.cc (switch step with and without remasking, the view handed on),
// conformance_test.cc, tests/pass_bound_test.cc.
#include <algorithm>
#include <cmath>
#include <optional>

#include "plan/pass_debt.h"
#include "plan/planner_rows.h"
#include "plan/selection.h"

namespace punt {
namespace {

const ParamRow kParams[] = {
    {"first", ParamKind::kSpec, "top-k", "the planner before the switch"},
    {"then", ParamKind::kSpec, "punt", "the planner after the switch"},
    {"at", ParamKind::kReal, "0.5", "share of the scope committed at which to switch", 0, 1},
};

class HybridPlanner : public Planner {
 public:
  explicit HybridPlanner(const Params& params)
      : first_(MakePlanner(params.Nested("first"))),
        then_(MakePlanner(params.Nested("then"))),
        at_(params.Real("at")) {}

  PlannerNeeds needs() const override { return Union(first_->needs(), then_->needs()); }

  Plan Decide(const StepView& view) const override {
    const std::optional<int> last_step = LastStepOfFirst(view);
    if (!last_step) return first_->Decide(view);
    if (first_->needs().past_steps && IsLastPass(view)) return {.commit = PositionsOf(view.proposals)};
    return DecideAfter(*last_step, view);
  }

 private:
  /// The step after which the switch happened; nothing if it has not yet.
  std::optional<int> LastStepOfFirst(const StepView& view) const {
    const int scope_start = static_cast<int>(view.key.step) - view.scope_step;
    const auto needed = static_cast<std::size_t>(std::ceil(at_ * static_cast<double>(view.scope.size()) - 1e-9));
    if (needed == 0) return scope_start - 1;
    std::vector<int> commit_steps;
    for (Position position : view.scope) {
      if (!view.canvas.is_masked(position)) commit_steps.push_back(view.canvas.history(position).commit_step);
    }
    if (commit_steps.size() < needed) return std::nullopt;
    std::sort(commit_steps.begin(), commit_steps.end());
    return std::max(commit_steps[needed - 1], scope_start - 1);
  }

  /// The steps that the second planner answers for; all of them if the first has had none of this scope.
  std::span<const PastStep> PastOfSecond(int last_step, const StepView& view) const {
    const int scope_start = static_cast<int>(view.key.step) - view.scope_step;
    if (first_->needs().past_steps || last_step < scope_start) return view.past;
    const std::size_t own_steps = view.key.step - static_cast<std::size_t>(last_step + 1);
    return view.past.last(std::min(own_steps, view.past.size()));
  }

  Plan DecideAfter(int last_step, const StepView& view) const {
    std::vector<Position> scope;
    for (Position position : view.scope) {
      const bool was_masked = view.canvas.is_masked(position) || view.canvas.history(position).commit_step > last_step;
      if (was_masked) scope.push_back(position);
    }
    std::vector<Proposal> revealed;
    for (const Proposal& proposal : view.revealed) {
      if (std::binary_search(scope.begin(), scope.end(), proposal.position)) revealed.push_back(proposal);
    }
    std::vector<ShadowProb> shadows;
    for (const ShadowProb& shadow : view.shadows) {
      if (std::binary_search(scope.begin(), scope.end(), shadow.position)) shadows.push_back(shadow);
    }
    return then_->Decide({.canvas = view.canvas,
                          .scope = scope,
                          .scope_step = static_cast<int>(view.key.step) - (last_step + 1),
                          .proposals = view.proposals,
                          .revealed = revealed,
                          .shadows = shadows,
                          .attention = view.attention,
                          .key = view.key,
                          .probe = view.probe,
                          .influence = view.influence,
                          .past = PastOfSecond(last_step, view)});
  }

  std::shared_ptr<const Planner> first_;
  std::shared_ptr<const Planner> then_;
  double at_;
};

}  // namespace

const PlannerRow kHybridRow = {
    .name = "hybrid",
    .summary = "one planner until a share of the scope is committed, another one after it",
    .params = kParams,
    .make = Make<HybridPlanner>,
    .is_scheduled = true,  // these two if one of its planners is
    .remasks = true,
};

}  // namespace punt
