// P2, path planning (Peng et al. 2025, arXiv 2502.03540): in every step, mask the worst.
//
// Idea. Rank all positions of the scope, filled or not, by how probable their newest proposal is. In step
// i of `steps`, counted from 1, the n = floor(G (1 - kappa(i / steps))) lowest become masks, whether they
// were masked or not; masked ones among the others are committed. So early choices can be taken back
// while later context argues against them. kappa rises from 0 to 1:
//   linear  t        cosine  1 - cos(pi t / 2), slow start        sine  sin(pi t / 2), fast start
// `steps` passes that read the rows of filled positions as well (needs().revealed_rows).
//
// The score is log p(y), times eta for a filled position: eta > 1 makes remasking likelier (logarithms
// are negative), eta = 0 forbids it. As in the original, the score of a filled position is that of the new
// proposal at its place, not of the token that is there; a filled position keeps its token.
//
// Decided here. Positions of the prompt are outside the scope and never remasked. Ties: masked positions
// become masks before filled ones, then lower confidence first (masked), higher position first (filled).
// A proposal deprioritised by the EOS policy ranks below all others while it is masked. kappa(1) = 1: the
// last step, and any beyond the schedule, commits everything.
//
// Tested by p2_test.cc (counts per step, what is remasked), conformance_test.cc.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "plan/planner_rows.h"
#include "plan/selection.h"

namespace punt {
namespace {

enum class Kappa { kLinear, kCosine, kSine };

const ParamRow kParams[] = {
    {"steps", ParamKind::kInteger, "128", "steps of the schedule", 1, 1e6},
    {"kappa",
     ParamKind::kChoice,
     "linear",
     "share to be filled as a function of time",
     0,
     0,
     {"linear", "cosine", "sine"}},
    {"eta", ParamKind::kReal, "1", "factor on the score of filled positions; 0: never remask", 0, 1e6},
};

class P2Planner : public Planner {
 public:
  explicit P2Planner(const Params& params)
      : steps_(params.Integer("steps")),
        kappa_(static_cast<Kappa>(params.ChoiceIndex("kappa"))),
        eta_(params.Real("eta")) {}

  PlannerNeeds needs() const override { return {.revealed_rows = true}; }
  Plan Decide(const StepView& view) const override;

 private:
  double ShareFilled(double t) const {
    switch (kappa_) {
      case Kappa::kLinear:
        return t;
      case Kappa::kCosine:
        return 1 - std::cos(std::numbers::pi / 2 * t);
      case Kappa::kSine:
        return std::sin(std::numbers::pi / 2 * t);
    }
    throw std::logic_error("Kappa");
  }

  int steps_;
  Kappa kappa_;
  double eta_;
};

/// Finite for p = 0 too, so that eta = 0 gives 0.
double LogProb(double p) { return std::log(std::max(p, std::numeric_limits<double>::min())); }

Plan P2Planner::Decide(const StepView& view) const {
  if (view.scope_step >= steps_ - 1) return {.commit = PositionsOf(view.proposals)};
  const double share = ShareFilled(static_cast<double>(view.scope_step + 1) / steps_);
  const std::size_t mask_count = WholePart(static_cast<double>(view.scope.size()) * (1 - share));

  // MarkLargest prefers earlier entries on ties: filled positions come first, each group best first.
  std::vector<double> scores;
  for (const Proposal& proposal : view.revealed) scores.push_back(eta_ * LogProb(proposal.token_prob));
  for (const Proposal& proposal : view.proposals) {
    const bool comes_last = proposal.confidence <= kDeprioritised;
    scores.push_back(comes_last ? kDeprioritised : LogProb(proposal.token_prob));
  }
  const std::size_t keep = scores.size() - std::min(mask_count, scores.size());
  const std::vector<bool> stays = MarkLargest(scores, keep);

  Plan plan;
  const std::size_t filled = view.revealed.size();
  for (std::size_t i = 0; i < filled; ++i) {
    if (!stays[i]) plan.remask.push_back(view.revealed[i].position);
  }
  for (std::size_t i = 0; i < view.proposals.size(); ++i) {
    if (stays[filled + i]) plan.commit.push_back(view.proposals[i].position);
  }
  return plan;
}

}  // namespace

const PlannerRow kP2Row = {
    .name = "p2",
    .summary = "mask the least probable share of all positions in every step, filled ones included",
    .params = kParams,
    .make = Make<P2Planner>,
    .is_scheduled = true,
    .remasks = true,
};

}  // namespace punt
