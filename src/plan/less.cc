// LESS, mutual-stability sampling (Mohamed et al. 2026, arXiv 2606.16908): sure, the same as before, and at rest.
//
// Idea. Three signs that a prediction is final, each of which alone deceives: its token is probable; it has been the
// most probable one for some steps; its row hardly moved in the last step. A position is ready when
//     p(y) >= conf_threshold,  the most probable token is the same as in the `persistence` steps before,  and
//     JS(p_now, p_before) <= drift_threshold.
// All ready positions are committed; if there is none, the most confident one. One pass per step, no tests: the rows
// compared belong to base passes that are run anyway. Against `klass` it asks for less certainty and a shorter rest,
// but for a steady token.
//
// When. Steps must pass before anything is ready: it gains on long canvases, but never in windows of few masks.
//
// Left open, and decided here. The authors compare rows of their eight most probable tokens, the rest as one; here the
// whole rows are compared. Lumping tokens can only make rows look more alike, so drift here is never smaller: what is
// ready here is ready there, and with eight tokens and p >= 0.75 the difference is small. A row's first steps lack a
// record, so the first `persistence` steps of a window commit one token each. When nothing is ready the authors commit
// as many as their schedule of steps asks for; with as many steps as tokens, their setting, that is one. A proposal
// deprioritised by the EOS policy counts as p = 0.
//
// Tested by less_test.cc (each sign by itself, lumping), conformance_test.cc.
#include <algorithm>

#include "plan/planner_rows.h"
#include "plan/selection.h"

namespace punt {
namespace {

const ParamRow kParams[] = {
    {"conf_threshold", ParamKind::kReal, "0.75", "the token must be at least so probable", 0, 1},
    {"drift_threshold", ParamKind::kReal, "0.04", "the row may have moved by so much, JS in nats", 0, 1},
    {"persistence", ParamKind::kInteger, "2", "for how many steps the same token must have led before", 1, 1000},
};

class LessPlanner : public Planner {
 public:
  explicit LessPlanner(const Params& params)
      : conf_threshold_(params.Real("conf_threshold")),
        drift_threshold_(params.Real("drift_threshold")),
        persistence_(params.Integer("persistence")) {}

  PlannerNeeds needs() const override { return {.drift_history = 1, .prediction_history = persistence_ + 1}; }

  Plan Decide(const StepView& view) const override {
    Plan plan;
    for (const Proposal& proposal : view.proposals) {
      const PositionHistory& history = view.canvas.history(proposal.position);
      if (TokenProb(proposal) >= conf_threshold_ && HasLed(proposal.token, history.predictions) &&
          !history.drifts.empty() && history.drifts.back() <= drift_threshold_) {
        plan.commit.push_back(proposal.position);
      }
    }
    if (plan.commit.empty()) plan.commit.push_back(view.proposals.front().position);
    return plan;
  }

 private:
  /// Newest last, this step's included; the canvas may hold more, when another planner asked as well.
  bool HasLed(Token token, std::span<const Prediction> predictions) const {
    const auto count = static_cast<std::size_t>(persistence_) + 1;
    if (predictions.size() < count) return false;
    const std::span<const Prediction> recent = predictions.last(count);
    return std::all_of(recent.begin(), recent.end(), [&](const Prediction& p) { return p.token == token; });
  }

  double conf_threshold_;
  double drift_threshold_;
  int persistence_;
};

}  // namespace

const PlannerRow kLessRow = {
    .name = "less",
    .summary = "commit probable tokens that have led for some steps and whose rows hardly move",
    .params = kParams,
    .make = Make<LessPlanner>,
};

}  // namespace punt
