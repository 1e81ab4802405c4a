// KLASS (Kim et al., NeurIPS 2025): commit what has settled.
//
// Idea. A prediction that no longer moves while the canvas around it fills up is probably final. A
// position is ready when its last `history` inter-step divergences KL(p_now || p_prev) are all below
// kl_threshold and its token's probability is above conf_threshold. All ready positions are committed; if
// there is none, the most confident one. One pass per step and no tests: the divergences compare base
// passes that are run anyway. What it observes is how a row reacted to whatever happened to be committed;
// PUNT asks the same question on purpose, before committing.
//
// Decided here. A position with fewer than `history` divergences on record is not ready, so the first
// steps commit one token each. Ready positions are all committed (the original's strategy `all`). A
// proposal deprioritised by the EOS policy counts as p = 0.
//
// Tested by klass_test.cc (readiness at each threshold), conformance_test.cc.
#include <algorithm>

#include "plan/planner_rows.h"
#include "plan/selection.h"

namespace punt {
namespace {

const ParamRow kParams[] = {
    {"kl_threshold", ParamKind::kReal, "0.01", "divergences below this count as settled", 0, 1e6},
    {"conf_threshold", ParamKind::kReal, "0.9", "the token must be more probable than this", 0, 1},
    {"history", ParamKind::kInteger, "2", "how many steps in a row must be settled", 1, 1000},
};

class KlassPlanner : public Planner {
 public:
  explicit KlassPlanner(const Params& params)
      : kl_threshold_(params.Real("kl_threshold")),
        conf_threshold_(params.Real("conf_threshold")),
        history_(params.Integer("history")) {}

  PlannerNeeds needs() const override { return {.divergence_history = history_}; }

  Plan Decide(const StepView& view) const override {
    Plan plan;
    for (const Proposal& proposal : view.proposals) {
      if (TokenProb(proposal) > conf_threshold_ && HasSettled(view.canvas.history(proposal.position).divergences)) {
        plan.commit.push_back(proposal.position);
      }
    }
    if (plan.commit.empty()) plan.commit.push_back(view.proposals.front().position);
    return plan;
  }

 private:
  /// Newest last; the canvas may hold more than was asked for, when another planner asked as well.
  bool HasSettled(std::span<const double> divergences) const {
    const auto count = static_cast<std::size_t>(history_);
    if (divergences.size() < count) return false;
    const std::span<const double> recent = divergences.last(count);
    return std::all_of(recent.begin(), recent.end(), [this](double d) { return d < kl_threshold_; });
  }

  double kl_threshold_;
  double conf_threshold_;
  int history_;
};

}  // namespace

const PlannerRow kKlassRow = {
    .name = "klass",
    .summary = "commit probable tokens whose predictions stopped moving between steps",
    .params = kParams,
    .make = Make<KlassPlanner>,
};

}  // namespace punt
