// Upstream: what comes before a token must be known well enough (RPD, reliable parallel decoding, He et al. 2026).
//
// Idea. Text has a direction: an answer follows from its reasoning, an end from what it ends. A model can be sure of
// either too early, because forms are easy to guess. So a sure token is committed only if the masked positions to its
// left are not too uncertain. Go through the candidates from left to right, with A the ones accepted so far:
//     E_i = sum of the entropies of the masked positions j < i that are not in A; accept i if E_i <= beta nats.
// Accepted ones count as known, since they are committed together. If none is accepted: the most probable of the first
// `window` masked positions. This is a frontier that moves from left to right at its own pace, where windows (blocks)
// move it by force; it needs none. One pass per step.
//
// A combinator. Candidates are the commits of another planner whose tokens have a probability of at least `floor`. With
// the defaults these are RPD's (probability 0.9 and more). With a planner that judges independence use floor=0: it is
// there for uncertain tokens.
//
// Left out. RPD also admits tokens of probability 0.6 to 0.9 that the model's last layers agree on. That takes the
// output head on the rows of half of the layers, which a denoiser does not give; by the paper's ablation the budget
// alone has the same accuracy at 4 to 11 % more passes.
//
// Decided here. Entropies are those of the proposals, untempered unless the run scores on tempered rows. The masked
// positions are those of the scope: windows before it are full. Most probable: by p(y), ties to the left; a proposal
// deprioritised by the EOS policy counts as p = 0. Remasks and test rounds pass through; when commits differ from the
// inner planner's, the pass that it hands on is dropped, and fewer tokens are taken back than are committed. If it
// commits nothing, as schedules may, neither do we. A planner that never takes more passes than there are tokens
// (pass_debt.h) keeps that promise in here: when it commits all that is left because no pass is left, all of it is
// accepted.
//
// Tested by upstream_test.cc (against a literal reading of the formula), conformance_test.cc, tests/pass_bound_test.cc.
#include <algorithm>
#include <set>

#include "plan/pass_debt.h"
#include "plan/planner_rows.h"
#include "plan/selection.h"

namespace punt {
namespace {

const ParamRow kParams[] = {
    {"of", ParamKind::kSpec, "threshold", "the planner whose commits are candidates"},
    {"floor", ParamKind::kReal, "0.9", "probability that a candidate must have", 0, 1},
    {"beta", ParamKind::kReal, "4", "largest entropy of what stays masked to its left, nats", 0, 1e9},
    {"window", ParamKind::kInteger, "32", "masked positions to take the best of when no candidate is accepted", 1, 1e6},
};

class UpstreamPlanner : public Planner {
 public:
  explicit UpstreamPlanner(const Params& params)
      : planner_(MakePlanner(params.Nested("of"))),
        floor_(params.Real("floor")),
        beta_(params.Real("beta")),
        window_(static_cast<std::size_t>(params.Integer("window"))) {}

  PlannerNeeds needs() const override { return planner_->needs(); }

  Plan Decide(const StepView& view) const override {
    Plan plan = planner_->Decide(view);
    if (plan.commit.empty() || (needs().past_steps && IsLastPass(view))) return plan;
    std::vector<Proposal> from_left(view.proposals.begin(), view.proposals.end());
    std::sort(from_left.begin(), from_left.end(),
              [](const Proposal& a, const Proposal& b) { return a.position < b.position; });
    std::vector<Position> accepted = Accept(plan.commit, from_left);
    if (accepted.empty()) accepted = {BestInWindow(from_left)};
    const std::set<Position> before(plan.commit.begin(), plan.commit.end());
    if (before == std::set(accepted.begin(), accepted.end())) return plan;
    plan.next_base = nullptr;
    plan.commit = std::move(accepted);
    SortCommits(plan, view.proposals);
    KeepProgress(plan);
    return plan;
  }

 private:
  std::vector<Position> Accept(std::span<const Position> commits, std::span<const Proposal> from_left) const {
    const std::set<Position> candidates(commits.begin(), commits.end());
    std::vector<Position> accepted;
    double doubt = 0;
    for (const Proposal& proposal : from_left) {
      const bool is_candidate = candidates.contains(proposal.position) && TokenProb(proposal) >= floor_;
      if (is_candidate && doubt <= beta_) {
        accepted.push_back(proposal.position);
      } else {
        doubt += proposal.entropy;
      }
    }
    return accepted;
  }

  Position BestInWindow(std::span<const Proposal> from_left) const {
    const auto window = from_left.first(std::min(window_, from_left.size()));
    return std::max_element(window.begin(), window.end(),
                            [](const Proposal& a, const Proposal& b) { return TokenProb(a) < TokenProb(b); })
        ->position;
  }

  std::shared_ptr<const Planner> planner_;
  double floor_;
  double beta_;
  std::size_t window_;
};

}  // namespace

const PlannerRow kUpstreamRow = {
    .name = "upstream",
    .summary = "filter another planner's commits: little doubt may be left masked to their left",
    .params = kParams,
    .make = Make<UpstreamPlanner>,
    .is_scheduled = true,  // these two if the inner planner is
    .remasks = true,
};

}  // namespace punt
