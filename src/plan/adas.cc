// ADAS, the attention-discounted adaptive sampler (Sahin et al. 2026, arXiv 2606.10829).
//
// Idea. Rules that commit several tokens rank positions as if no other were chosen. Build the set one by
// one instead: with S chosen so far and c the probabilities of the proposed tokens, the next one has the largest
//     u(i | S) = c_i - alpha * sum over s in S of A_is (1 - c_s),
// where A_is is how much i attends to s in the last layer, mean over heads. Attending to a chosen token costs in
// proportion to that token's doubt, so what depends on an uncertain choice waits for the next step; nothing is
// forbidden, unlike in `dapd`.
//
// A combinator. Another planner still decides how many tokens are committed: it is shown the proposals in the
// order in which they were added, with u as their confidence. top-k takes the first k, entropy-bound the longest
// prefix within its bound, punt ranks by it. The largest u never grows while S does, so the order is one of confidence.
// Planners that rank by something else (threshold, factor by p(y); left-to-right, random) are not affected.
// No extra pass; O(m^2) for m masked positions.
//
// When. Gains are reported when four or more tokens are committed per step; with two it does harm.
//
// Left open, and decided here. alpha = 40 is the authors' value for canvases of 256 and 512 tokens. Weights sum to one
// over the whole canvas: on short canvases each is larger, and so is the discount. The weights are used as the softmax
// gives them, not normalised over masked positions. The authors name no inner planner: the default is top-k with k = 4,
// where their gains begin. Ties: the better by the run's score. A proposal deprioritised by the EOS policy counts as
// c = 0 and comes last.
//
// Tested by adas_test.cc (against a literal reading of the formula); tests/cli_engine_test.sh runs it on a network.
#include <algorithm>

#include "plan/planner_rows.h"
#include "plan/selection.h"

namespace punt {
namespace {

const ParamRow kParams[] = {
    {"of", ParamKind::kSpec, "top-k:k=4", "the planner that is shown the discounted order"},
    {"alpha", ParamKind::kReal, "40", "weight of the discount", 0, 1e9},
    {"layers_from", ParamKind::kReal, "1", "attention of the layers from this share of the depth; 1: the last", 0, 1},
};

class AdasPlanner : public Planner {
 public:
  explicit AdasPlanner(const Params& params)
      : planner_(MakePlanner(params.Nested("of"))),
        alpha_(params.Real("alpha")),
        layers_{.begin = params.Real("layers_from")} {}

  PlannerNeeds needs() const override { return Union({.attention = {layers_}}, planner_->needs()); }

  Plan Decide(const StepView& view) const override {
    const std::vector<Proposal> order = Discounted(view);
    StepView discounted = view;
    discounted.proposals = order;
    Plan plan = planner_->Decide(discounted);
    SortCommits(plan, view.proposals);
    return plan;
  }

 private:
  std::vector<Proposal> Discounted(const StepView& view) const {
    const AttentionTable attention(view.Attention(layers_), view.canvas.length());
    std::vector<Proposal> waiting(view.proposals.begin(), view.proposals.end());
    std::vector<Proposal> order;
    for (Proposal& proposal : waiting) {
      if (proposal.confidence > kDeprioritised) proposal.confidence = proposal.token_prob;
    }
    while (!waiting.empty()) {
      const auto best = std::max_element(waiting.begin(), waiting.end(), [](const Proposal& a, const Proposal& b) {
        return a.confidence < b.confidence;
      });
      const Proposal chosen = *best;
      waiting.erase(best);
      order.push_back(chosen);
      for (Proposal& proposal : waiting) {
        if (proposal.confidence <= kDeprioritised) continue;
        proposal.confidence -= alpha_ * attention.At(proposal.position, chosen.position) * (1 - TokenProb(chosen));
      }
    }
    return order;
  }

  std::shared_ptr<const Planner> planner_;
  double alpha_;
  LayerRange layers_;
};

}  // namespace

const PlannerRow kAdasRow = {
    .name = "adas",
    .summary = "show another planner the proposals discounted by attention to uncertain ones before them",
    .params = kParams,
    .make = Make<AdasPlanner>,
    .is_scheduled = true,  // these two if the inner planner is
    .remasks = true,
    .needs_network = true,
};

}  // namespace punt
