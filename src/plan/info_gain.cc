// Info-gain (arXiv 2602.18176): look one step ahead and choose.
//
// Idea. What is best to commit now depends on how much it tells about the rest. Draw a few candidate
// sets of k positions, run the canvas that each would lead to, all in one batch, and keep the one with the
// largest
//     J = - (sum of the current entropies of its positions) - (mean entropy of what stays masked after it)
// where the mean is 0 when nothing stays masked. The winner's pass is exactly the next step's base pass
// and is handed on: a step costs one dependent call like top-k, but up to `candidates` passes. Like PUNT it
// spends passes on tentative reveals; it looks at what they do to uncertainty, not at whether the
// committed tokens fit together.
//
// Candidate 0 is the greedy set, the k most confident. The others are the k largest of confidence /
// position_temperature + Gumbel: a draw without replacement with weights softmax(confidence / temperature).
// Candidates that name the same set are evaluated once. When there is one candidate, or every proposal has
// probability >= threshold, the greedy set is committed without looking ahead.
//
// Decided here. The draw is on the run's confidence as it is (the original's is a probability; with a
// score of another scale choose the temperature accordingly). Each candidate draws from the position's
// stream of this step in turn. Equal J: the earlier candidate, so greedy first.
//
// Tested by info_gain_test.cc (picks the best J, passes, what is handed on), conformance_test.cc.
#include <algorithm>
#include <limits>
#include <numeric>

#include "plan/planner_rows.h"
#include "plan/selection.h"
#include "punt/random.h"

namespace punt {
namespace {

const ParamRow kParams[] = {
    {"candidates", ParamKind::kInteger, "8", "action sets compared per step", 1, 1024},
    {"k", ParamKind::kInteger, "1", "positions committed per step", 1, 1e6},
    {"position_temperature", ParamKind::kReal, "0.2", "temperature at which candidates are drawn", 1e-6, 1e6},
    {"threshold", ParamKind::kReal, "0.8", "no look-ahead when every token is at least so probable", 0, 1},
};

/// Which proposals a candidate commits.
using Marks = std::vector<bool>;

class InfoGainPlanner : public Planner {
 public:
  explicit InfoGainPlanner(const Params& params)
      : candidates_(params.Integer("candidates")),
        k_(static_cast<std::size_t>(params.Integer("k"))),
        position_temperature_(params.Real("position_temperature")),
        threshold_(params.Real("threshold")) {}

  PlannerNeeds needs() const override { return {.tests = true}; }
  Plan Decide(const StepView& view) const override;

 private:
  std::vector<Marks> Candidates(const StepView& view) const;

  int candidates_;
  std::size_t k_;
  double position_temperature_;
  double threshold_;
};

std::vector<Marks> InfoGainPlanner::Candidates(const StepView& view) const {
  Marks greedy(view.proposals.size());
  std::fill_n(greedy.begin(), std::min(k_, greedy.size()), true);
  std::vector<Marks> candidates = {greedy};
  std::vector<RandomStream> streams;
  for (const Proposal& proposal : view.proposals) streams.emplace_back(view.key, proposal.position, Purpose::kPlan);
  std::vector<double> keys(view.proposals.size());
  for (int i = 1; i < candidates_; ++i) {
    for (std::size_t j = 0; j < keys.size(); ++j) {
      keys[j] = view.proposals[j].confidence / position_temperature_ + streams[j].Gumbel();
    }
    Marks candidate = MarkLargest(keys, k_);
    if (std::find(candidates.begin(), candidates.end(), candidate) == candidates.end()) {
      candidates.push_back(std::move(candidate));
    }
  }
  return candidates;
}

/// -(entropies of the action now) - (mean entropy of the rest after it).
double GainOf(const StepView& view, const Marks& action, const PassRef& pass, std::span<const Position> rest) {
  double now = 0;
  for (std::size_t i = 0; i < action.size(); ++i) {
    if (action[i]) now += view.proposals[i].entropy;
  }
  if (rest.empty()) return -now;
  const std::vector<double> after = view.probe.Entropies(pass, rest);
  return -now - std::accumulate(after.begin(), after.end(), 0.0) / static_cast<double>(after.size());
}

Plan InfoGainPlanner::Decide(const StepView& view) const {
  const std::vector<Marks> candidates = Candidates(view);
  const bool is_sure = std::all_of(view.proposals.begin(), view.proposals.end(),
                                   [this](const Proposal& proposal) { return TokenProb(proposal) >= threshold_; });
  if (is_sure || candidates.size() == 1) return {.commit = PositionsWhere(view.proposals, candidates.front())};

  std::vector<std::vector<Position>> actions;
  std::vector<std::vector<Position>> rests;
  for (const Marks& candidate : candidates) {
    Marks others = candidate;
    others.flip();
    actions.push_back(PositionsWhere(view.proposals, candidate));
    rests.push_back(PositionsWhere(view.proposals, others));
  }
  std::vector<Probe::Reveal> reveals;
  for (std::size_t i = 0; i < candidates.size(); ++i) reveals.push_back({.anchors = actions[i], .rows = rests[i]});
  const std::vector<PassRef> passes = view.probe.Run(reveals);

  std::size_t best = 0;
  double best_gain = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const double gain = GainOf(view, candidates[i], passes[i], rests[i]);
    if (gain > best_gain) {
      best = i;
      best_gain = gain;
    }
  }
  return {.commit = actions[best], .next_base = passes[best]};
}

}  // namespace

const PlannerRow kInfoGainRow = {
    .name = "info-gain",
    .summary = "look ahead with several candidate sets and keep the one that leaves least uncertainty",
    .params = kParams,
    .make = Make<InfoGainPlanner>,
};

}  // namespace punt
