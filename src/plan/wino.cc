// WINO, wide in, narrow out (Hong et al. 2025): draft generously, verify in the same pass, take back.
//
// Idea. A token that was committed early can be judged again once there is more context, by asking the model what
// it would put at the position without seeing the token. So the pass contains shadows: a mask at the place of
// every committed token, which sees everything but that token and is seen by nothing. Each step drafts from the
// masked rows and verifies earlier drafts from the shadow rows, at the cost of one pass over a longer canvas:
//
//   draft   commit proposals with p(y) > tau, at most min(max(cap_share * masked, 5), 20), at least the best one
//   verify  re-mask a committed token whose shadow row gives it a probability below tau_back, the least probable
//           first, fewer than the step before accepted; after a step that accepted one token, none
//
// The last rule makes it terminate: every step adds at least one token more than it will lose.
//
// Decided here. Probabilities are of the plain softmax. Shadows cover the scope (the window), as in the original its
// block. Tokens that are taken back can be drafted again from the next step on. A proposal deprioritised by the EOS
// policy counts as p = 0.
//
// Tested by wino_test.cc (draft, verify, end), conformance_test.cc on exact models, whose rows are their own shadows.
#include <algorithm>
#include <cmath>

#include "plan/planner_rows.h"
#include "plan/selection.h"

namespace punt {
namespace {

constexpr double kFewestDrafts = 5;
constexpr double kMostDrafts = 20;

const ParamRow kParams[] = {
    {"tau", ParamKind::kReal, "0.6", "probability above which a token is drafted", 0, 1},
    {"tau_back", ParamKind::kReal, "0.9", "shadow probability below which it is taken back", 0, 1},
    {"cap_share", ParamKind::kReal, "0.7", "share of the masks that may be drafted at once (within 5..20)", 0, 1},
};

class WinoPlanner : public Planner {
 public:
  explicit WinoPlanner(const Params& params)
      : tau_(params.Real("tau")), tau_back_(params.Real("tau_back")), cap_share_(params.Real("cap_share")) {}

  PlannerNeeds needs() const override { return {.shadow_rows = true}; }

  Plan Decide(const StepView& view) const override { return {.commit = Draft(view.proposals), .remask = Verify(view)}; }

 private:
  std::vector<Position> Draft(std::span<const Proposal> proposals) const {
    const double share = cap_share_ * static_cast<double>(proposals.size());
    const auto most = static_cast<std::size_t>(std::clamp(std::floor(share), kFewestDrafts, kMostDrafts));
    std::vector<double> keys;
    for (const Proposal& proposal : proposals) keys.push_back(TokenProb(proposal) > tau_ ? TokenProb(proposal) : -1);
    std::vector<bool> drafted = MarkLargest(keys, most);
    for (std::size_t i = 0; i < keys.size(); ++i) drafted[i] = drafted[i] && keys[i] >= 0;
    drafted[0] = drafted[0] || std::count(drafted.begin(), drafted.end(), true) == 0;
    return PositionsWhere(proposals, drafted);
  }

  std::vector<Position> Verify(const StepView& view) const {
    std::vector<ShadowProb> doubtful;
    std::size_t accepted = 0;  // by the step before
    for (const ShadowProb& shadow : view.shadows) {
      if (shadow.prob < tau_back_) doubtful.push_back(shadow);
      const int commit_step = view.canvas.history(shadow.position).commit_step;
      accepted += commit_step + 1 == static_cast<int>(view.key.step) ? 1 : 0;
    }
    std::stable_sort(doubtful.begin(), doubtful.end(),
                     [](const ShadowProb& a, const ShadowProb& b) { return a.prob < b.prob; });
    doubtful.resize(std::min(doubtful.size(), accepted > 1 ? accepted - 1 : 0));
    std::vector<Position> remask;
    for (const ShadowProb& shadow : doubtful) remask.push_back(shadow.position);
    return remask;
  }

  double tau_;
  double tau_back_;
  double cap_share_;
};

}  // namespace

const PlannerRow kWinoRow = {
    .name = "wino",
    .summary = "draft generously, verify drafts with shadow rows of the same pass, take back",
    .params = kParams,
    .make = Make<WinoPlanner>,
    .remasks = true,
};

}  // namespace punt
