// FreeDave, free draft and verification (Wu and Zhang 2025, arXiv 2510.00294): guess several steps, keep those that
// hold.
//
// Idea. A rule that commits a token or two per step is right but slow, and its next steps are often what the rows of
// this one already suggest. So draft: D_1 is the canvas that the rule leads to now, D_2 the one it would lead to next
// if nothing changed, and so on, `draft` of them. Run them all in one batch. From the pass over D_k we know what the
// rule really does there: if that is D_(k + 1), the draft holds, and so on along the chain. The last canvas that holds
// is committed, and its pass is the next step's base pass. A chain of one is the rule's own step, so nothing is lost.
//
// Cost. Test passes are passes: a step runs as many as there are drafts, one of which the next step gets for free, and
// commits what that many steps of the rule would commit at best. NFE is therefore never less than the rule's, and up to
// `draft` times as much; dependent calls are fewer. It pays where passes of one batch cost little more than one (GPUs),
// not on two cores.
//
// A combinator, for planners that look only at proposals and the canvas. Others are refused: the pass over a draft has
// no attention, no shadows, no history. The exact comparison is the paper's for rules of fixed size; it is used for
// thresholds too, where the authors compare more loosely and are no longer lossless.
//
// Lossless. At temperature 0 the text is the rule's, token by token. Above it, what is drawn at D_k is
// drawn with the numbers of the step that would follow it, so what is verified is what that step will draw: the law is
// the rule's for orders that do not look at the values drawn (margin, neg-entropy), although the text is another. With
// token-prob it is not: there the rule draws anew at every step and picks what came out well. Nor is it under a cache,
// whose test passes are not base passes, or for rules with a clock (timestep, halton), which ticks once per step here.
// A run that stops at an end of sequence may have filled places after it which the rule would have left.
//
// Decided here. The pass over the last draft is run although nothing is verified with it: it may be the next base pass.
// A draft that fills the scope needs no pass. If only one draft is possible, the rule's step is taken as it is.
//
// Tested by freedave_test.cc (chains, passes), conformance_test.cc, exactness_test.cc (against the rule itself, greedy
// and in law).
#include <algorithm>
#include <set>

#include "base/check.h"
#include "plan/planner_rows.h"
#include "plan/selection.h"

namespace punt {
namespace {

const ParamRow kParams[] = {
    {"draft", ParamKind::kInteger, "4", "canvases drafted per step", 1, 1024},
    {"of", ParamKind::kSpec, "top-k", "the planner whose steps are guessed"},
};

/// A canvas that later steps might lead to.
struct Draft {
  Canvas canvas;
  std::vector<Position> revealed;  // since the step's own canvas
  std::vector<Position> masked;    // of the scope
};

class FreedavePlanner : public Planner {
 public:
  explicit FreedavePlanner(const Params& params)
      : draft_(static_cast<std::size_t>(params.Integer("draft"))), planner_(MakePlanner(params.Nested("of"))) {
    if (planner_->needs() != PlannerNeeds{}) {
      BadInput("planner freedave: of must be a planner that looks at proposals alone, got '{}'", params.Nested("of"));
    }
  }

  PlannerNeeds needs() const override { return {.tests = true}; }

  Plan Decide(const StepView& view) const override {
    Plan plan = planner_->Decide(view);
    const std::vector<Draft> drafts = MakeDrafts(view, plan);
    if (drafts.size() < 2) return plan;
    const std::vector<PassRef> passes = RunDrafts(view, drafts);
    std::size_t last = 0;
    while (last + 1 < drafts.size() && Holds(view, drafts[last], passes[last], drafts[last + 1])) ++last;
    plan.commit = drafts[last].revealed;
    SortCommits(plan, view.proposals);
    plan.next_base = passes[last];
    return plan;
  }

 private:
  std::vector<Draft> MakeDrafts(const StepView& view, const Plan& first) const {
    std::vector<Draft> drafts;
    if (!first.remask.empty()) return drafts;
    std::vector<Position> commits = first.commit;
    while (!commits.empty() && drafts.size() < draft_) {
      Draft next = drafts.empty() ? Draft{.canvas = view.canvas, .revealed = {}, .masked = {}} : drafts.back();
      std::vector<Proposal> rest;
      for (const Proposal& proposal : view.proposals) {
        if (!next.canvas.is_masked(proposal.position)) continue;
        if (std::find(commits.begin(), commits.end(), proposal.position) == commits.end()) {
          rest.push_back(proposal);
          continue;
        }
        next.canvas.Commit({.position = proposal.position,
                            .token = proposal.token,
                            .step = static_cast<int>(view.key.step),
                            .confidence = proposal.confidence,
                            .prob = proposal.token_prob});
        next.revealed.push_back(proposal.position);
      }
      next.masked = next.canvas.MaskedIn(view.scope);
      drafts.push_back(std::move(next));
      if (rest.empty()) break;
      Plan guess = Next(view, drafts.back(), rest);
      commits = guess.remask.empty() ? std::move(guess.commit) : std::vector<Position>{};
    }
    return drafts;
  }

  /// What the rule does on a draft that the run has reached.
  Plan Next(const StepView& view, const Draft& draft, std::span<const Proposal> proposals) const {
    return planner_->Decide({.canvas = draft.canvas,
                             .scope = view.scope,
                             .scope_step = view.scope_step + 1,
                             .proposals = proposals,
                             .revealed = {},
                             .shadows = {},
                             .attention = {},
                             .key = {view.key.seed, view.key.sample, view.key.step + 1},
                             .probe = view.probe});
  }

  /// One pass per draft, all in one call; none for a draft that fills the scope.
  static std::vector<PassRef> RunDrafts(const StepView& view, const std::vector<Draft>& drafts) {
    std::vector<Probe::Reveal> reveals;
    for (const Draft& draft : drafts) {
      if (!draft.masked.empty()) reveals.push_back({.anchors = draft.revealed, .rows = draft.masked});
    }
    std::vector<PassRef> passes = view.probe.Run(reveals);
    passes.resize(drafts.size());
    return passes;
  }

  /// Whether the rule leads from one draft to the next.
  bool Holds(const StepView& view, const Draft& draft, const PassRef& pass, const Draft& next) const {
    const std::vector<Proposal> proposals = view.probe.Foresee(pass, draft.masked);
    const Plan plan = Next(view, draft, proposals);
    if (!plan.remask.empty() || draft.revealed.size() + plan.commit.size() != next.revealed.size()) return false;
    const std::set<Position> commits(plan.commit.begin(), plan.commit.end());
    return std::all_of(proposals.begin(), proposals.end(), [&](const Proposal& proposal) {
      if (!commits.contains(proposal.position)) return true;
      return next.canvas.tokens()[static_cast<std::size_t>(proposal.position)] == proposal.token;
    });
  }

  std::size_t draft_;
  std::shared_ptr<const Planner> planner_;
};

}  // namespace

const PlannerRow kFreedaveRow = {
    .name = "freedave",
    .summary = "draft the next steps of another planner, verify them in one batch, keep those that hold",
    .params = kParams,
    .make = Make<FreedavePlanner>,
    .is_scheduled = true,  // these two if the inner planner is
    .remasks = true,
    .foresees = true,
};

}  // namespace punt
