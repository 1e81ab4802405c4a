// Saber (Dong et al., ACL 2026, arXiv 2510.18165): as fast as the run has been sure, and a few tokens back each time.
//
// Idea. How sure is sure enough depends on the text: require more than the mean probability at which the run committed
// its tokens so far. Once there is context, most positions pass, and steps grow. A token that was committed too early
// shows when its neighbours appear: the model becomes less sure of its place. So every step
//     commits   each proposal with p(y) above the mean of all tokens committed so far, at least the n most probable,
//     remasks   of the tokens committed now or before, those whose confidence fell most since the last step: one for
//               every `mu` tokens that this step takes (rounded up, at least n / 2), but fewer than it takes.
// The confidence of a place is the largest probability of its row, masked or not. So at least one position is won in
// every step. One pass per step, which also reads the rows of committed tokens.
//
// When. Code, whose tokens constrain each other from afar. It takes tokens back in every step, needed or not.
//
// Left open, and decided here. The paper speaks of tokens whose confidence falls; its program takes the quota in any
// case, and so do we: in order of the change, largest fall first, even if some are rises. A token that is chosen and
// taken back in the same step is simply not committed. Tokens that were taken back leave the mean (the original keeps
// the old value). Only positions of the scope are taken back, and only if the step before has read their row. A step
// that could fill the scope fills it and takes nothing back. Ties: the lower position. The first step has no mean and
// commits n. A proposal deprioritised by the EOS policy counts as p = 0.
//
// Tested by saber_test.cc (against a literal reading), conformance_test.cc.
#include <algorithm>

#include "plan/planner_rows.h"
#include "plan/selection.h"

namespace punt {
namespace {

const ParamRow kParams[] = {
    {"n", ParamKind::kInteger, "2", "fewest tokens that a step takes", 1, 1e6},
    {"mu", ParamKind::kInteger, "8", "how many taken tokens allow one to be taken back", 1, 1e6},
};

class SaberPlanner : public Planner {
 public:
  explicit SaberPlanner(const Params& params)
      : n_(static_cast<std::size_t>(params.Integer("n"))), mu_(static_cast<std::size_t>(params.Integer("mu"))) {}

  PlannerNeeds needs() const override { return {.revealed_rows = true, .prediction_history = 2}; }

  Plan Decide(const StepView& view) const override {
    const std::vector<bool> taken = Take(view);
    Plan plan{.commit = PositionsWhere(view.proposals, taken)};
    if (plan.commit.size() == view.proposals.size()) return plan;
    for (Position position : TakeBack(view, plan.commit)) {
      const auto own = std::find(plan.commit.begin(), plan.commit.end(), position);
      if (own != plan.commit.end()) {
        plan.commit.erase(own);
      } else {
        plan.remask.push_back(position);
      }
    }
    return plan;
  }

 private:
  std::vector<bool> Take(const StepView& view) const {
    double sum = 0;
    int count = 0;
    for (Position position : view.canvas.generated()) {
      if (view.canvas.is_masked(position)) continue;
      sum += view.canvas.history(position).commit_prob;
      ++count;
    }
    const double mean = count > 0 ? sum / count : 1;
    const std::vector<double> probs = TokenProbs(view.proposals);
    const auto above = std::count_if(probs.begin(), probs.end(), [&](double p) { return p > mean; });
    return MarkLargest(probs, std::max(n_, static_cast<std::size_t>(above)));
  }

  /// The positions whose confidence fell most, largest fall first.
  std::vector<Position> TakeBack(const StepView& view, const std::vector<Position>& commits) const {
    struct Change {
      double amount = 0;
      Position position = 0;
      auto operator<=>(const Change&) const = default;
    };
    std::vector<Change> changes;
    const auto add = [&](Position position) {
      const std::vector<Prediction>& said = view.canvas.history(position).predictions;
      if (said.size() >= 2) changes.push_back({said.back().prob - said[said.size() - 2].prob, position});
    };
    for (Position position : commits) add(position);
    for (const Proposal& proposal : view.revealed) add(proposal.position);
    std::sort(changes.begin(), changes.end());
    const std::size_t quota = std::max(n_ / 2, (commits.size() + mu_ - 1) / mu_);
    changes.resize(std::min({changes.size(), quota, commits.size() - 1}));
    std::vector<Position> positions;
    for (const Change& change : changes) positions.push_back(change.position);
    return positions;
  }

  std::size_t n_;
  std::size_t mu_;
};

}  // namespace

const PlannerRow kSaberRow = {
    .name = "saber",
    .summary = "commit what is surer than the run has been, take back where confidence fell most",
    .params = kParams,
    .make = Make<SaberPlanner>,
    .remasks = true,
};

}  // namespace punt
