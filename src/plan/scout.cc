// Scout: PUNT that tests only where the run has shown that tests will pay.
//
// Idea. A masked position is in one of three cases, and each has its own cheapest rule:
//
//   sure: its token is nearly certain. Nothing to test: what depends on it, it does not change.
//
//   unsure and dependent: its row moves whenever something around it is committed. Commit it alone, or not yet.
//
//   unsure and independent: its row stays as it is whatever is committed elsewhere. Waiting makes it no surer, and a
//   rule that looks at probabilities waits for all the others. Here tests pay: many such positions can be committed at
//   once, and only a test can find them.
//
// Which case it is can be seen for free. The base pass of a step, compared with that of the step before, is a test
// whose anchors are what that step committed. Rows that moved belong to the second case; only those that did not are
// worth a search.
//
// A step.
//   1. The sure set: rows whose best token has a probability of at least `sure`, the surest first, while their doubts
//      1 - p add up to at most `doubt`; always the most confident proposal. If they were drawn one after another, the
//      law would differ by at most that sum: with all but that probability each is its row's best token either way.
//      What was drawn does not matter: a rule that commits rows once they have drawn something probable draws the
//      others again, and its texts are too probable and too much alike.
//   2. The candidates: the most confident of the others whose rows moved by at most epsilon since the last step.
//      After a search that paid, of all others: their rows have moved because what they depend on was found and
//      committed, and what is left is most often as independent as what was found.
//   3. PUNT's search (punt.cc, iterative) among the candidates. They are numbered from 1 in the order of their
//      positions and not, as in the paper, of confidence: in texts what follows depends on what came
//      before, so of two that depend on each other the earlier one is kept and mostly settles the later one; and
//      the order does not depend on the values drawn. The sure set has the number 0: it is revealed in every round, so
//      that everything is tested against it. Sure tokens and survivors are committed.
//
// How many candidates. A search pays if it commits at least kGain tokens per pass. The first is among all candidates;
// after one that paid the next may be among twice as many, after one that did not among a quarter. Below `fewest`,
// searching rests for kPatience steps without tests, and for four times as long after each further failure. A round in
// which few tests survive shows that all candidates depend on each other, as the words of a text do: the
// search ends there, and only the sure set is committed.
//
// Fewer rounds. ceil(log2(m + 1)) rounds separate any two of m candidates. With `rounds` of them numbers repeat
// along the text, and tokens of the same number, which are at least 2^rounds - 2 candidates apart, are not tested
// against each other: cheaper, but no longer a proof. Off by default.
//
// Cost. One pass per step, up to ceil(log2(m + 1)) more if m candidates are searched, one more if the first round ends
// the search; and never more in a run than one token at a time would take (pass_debt.h).
//
// Tested by scout_test.cc, conformance_test.cc, exactness_test.cc and pass_bound_test.cc.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <numeric>

#include "plan/pass_debt.h"
#include "plan/planner_rows.h"
#include "plan/selection.h"

namespace punt {
namespace {

const ParamRow kParams[] = {
    {"epsilon", ParamKind::kReal, "0.005", "largest divergence at which a token counts as uninfluenced", 0, 1e6},
    {"sure", ParamKind::kReal, "0.8", "rows whose best token is as probable need no test", 0, 1},
    {"doubt", ParamKind::kReal, "0.03", "what the doubts of the rows without test may add up to", 0, 1e6},
    {"fewest", ParamKind::kInteger, "4", "a search needs this many candidates", 1, 1000000},
    {"rounds", ParamKind::kInteger, "0", "most test passes of a search; 0: as many as tell all candidates apart", 0,
     30},
    {"survivors", ParamKind::kReal, "0.1", "a search ends when a smaller share of a round's tests survives", 0, 1},
};

constexpr int kPatience = 4;
constexpr int kGain = 2;
constexpr std::size_t kRetreat = 4;

/// One pass per 16 masked positions, as in pass_debt.h; but from 24 on at least three, enough for a search among seven.
int MostDebt(int masked) { return std::max(masked / 16, std::min(masked / 8, 3)); }

bool HasPaid(const PastStep& step) { return step.tests > 0 && step.committed >= kGain * step.passes(); }

/// Among how many candidates to search, as the searches so far suggest; 0: not now.
std::size_t Appetite(const StepView& view, std::size_t fewest) {
  std::size_t masked = view.proposals.size();
  for (const PastStep& step : view.past) masked += static_cast<std::size_t>(step.committed);
  std::size_t appetite = masked;
  std::int64_t wait = 0;
  int failures = 0;
  for (const PastStep& step : view.past) {
    if (step.tests == 0) {
      if (wait > 0) --wait;
    } else {
      if (HasPaid(step)) {
        appetite = 2 * std::min(appetite, masked);
        failures = 0;
      } else {
        appetite = std::min(appetite, masked) / kRetreat;
        if (appetite < fewest) {
          appetite = fewest;
          wait = std::int64_t{kPatience} << 2 * std::min(failures++, 10);
        }
      }
    }
    masked -= static_cast<std::size_t>(step.committed);
  }
  return wait > 0 ? 0 : appetite;
}

/// Proposals by rank; rank 0 is the most confident.
using Ranks = std::vector<std::size_t>;

/// Numbers from 1 to `most` in the order of positions, again and again.
std::vector<std::size_t> Numbers(const StepView& view, const Ranks& candidates, std::size_t most) {
  Ranks order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return view.proposals[candidates[a]].position < view.proposals[candidates[b]].position;
  });
  std::vector<std::size_t> numbers(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) numbers[order[i]] = 1 + i % most;
  return numbers;
}

class ScoutPlanner : public Planner {
 public:
  explicit ScoutPlanner(const Params& params)
      : epsilon_(params.Real("epsilon")),
        sure_(params.Real("sure")),
        doubt_(params.Real("doubt")),
        fewest_(static_cast<std::size_t>(params.Integer("fewest"))),
        rounds_(static_cast<int>(params.Integer("rounds"))),
        survivors_(params.Real("survivors")) {}

  PlannerNeeds needs() const override { return {.divergence_history = 1, .past_steps = true, .tests = true}; }

  Plan Decide(const StepView& view) const override {
    const std::vector<bool> is_sure = SureOnes(view);
    Ranks candidates = Unmoved(view, is_sure);
    candidates.resize(std::min(candidates.size(), Appetite(view, fewest_)));
    const int most_debt = MostDebt(static_cast<int>(view.proposals.size()));
    while (!candidates.empty() && PassDebt(view) + Rounds(candidates.size()) > most_debt) {
      candidates.resize(candidates.size() / 2);
    }
    if (candidates.size() < fewest_) return WithoutTests(view, is_sure);
    return Search(view, is_sure, candidates);
  }

 private:
  int Rounds(std::size_t candidates) const {
    const int all = static_cast<int>(std::bit_width(candidates));
    return rounds_ == 0 ? all : std::min(rounds_, all);
  }

  std::vector<bool> SureOnes(const StepView& view) const;
  Ranks Unmoved(const StepView& view, const std::vector<bool>& is_sure) const;
  Plan WithoutTests(const StepView& view, const std::vector<bool>& is_sure) const;
  Plan Search(const StepView& view, const std::vector<bool>& is_sure, const Ranks& candidates) const;

  double epsilon_;
  double sure_;
  double doubt_;
  std::size_t fewest_;
  int rounds_;
  double survivors_;
};

std::vector<bool> ScoutPlanner::SureOnes(const StepView& view) const {
  Ranks by_prob;
  for (std::size_t rank = 1; rank < view.proposals.size(); ++rank) {
    if (TopProb(view.proposals[rank]) >= sure_) by_prob.push_back(rank);
  }
  std::stable_sort(by_prob.begin(), by_prob.end(), [&](std::size_t a, std::size_t b) {
    return TopProb(view.proposals[a]) > TopProb(view.proposals[b]);
  });
  std::vector<bool> is_sure(view.proposals.size());
  is_sure[0] = true;
  // The best one is committed in any case; if it is not sure, the sure ones are no less so for it.
  const double best = TopProb(view.proposals[0]);
  double doubts = best >= sure_ ? 1 - best : 0;
  for (std::size_t rank : by_prob) {
    doubts += 1 - TopProb(view.proposals[rank]);
    if (doubts > doubt_) break;
    is_sure[rank] = true;
  }
  return is_sure;
}

Ranks ScoutPlanner::Unmoved(const StepView& view, const std::vector<bool>& is_sure) const {
  Ranks unmoved;
  const bool after_success = !view.past.empty() && HasPaid(view.past.back());
  for (std::size_t rank = 0; rank < view.proposals.size(); ++rank) {
    const std::span<const double> moves = view.canvas.history(view.proposals[rank].position).divergences;
    if (!is_sure[rank] && !moves.empty() && (after_success || moves.back() <= epsilon_)) unmoved.push_back(rank);
  }
  return unmoved;
}

Plan ScoutPlanner::WithoutTests(const StepView& view, const std::vector<bool>& is_sure) const {
  // A run that is behind must commit what the debt demands; one that is not, what it is sure of.
  if (PassDebt(view) > 0) {
    const Plan due = CommitWithoutTests(view);
    std::vector<bool> is_kept = is_sure;
    for (std::size_t rank = 0; rank < is_kept.size(); ++rank) {
      const Position position = view.proposals[rank].position;
      if (std::find(due.commit.begin(), due.commit.end(), position) != due.commit.end()) is_kept[rank] = true;
    }
    return {.commit = PositionsWhere(view.proposals, is_kept)};
  }
  return {.commit = PositionsWhere(view.proposals, is_sure)};
}

Plan ScoutPlanner::Search(const StepView& view, const std::vector<bool>& is_sure, const Ranks& candidates) const {
  Plan plan;
  std::vector<bool> is_kept = is_sure;
  std::vector<PassRef> passes;
  const std::size_t count = candidates.size();
  for (std::size_t rank : candidates) is_kept[rank] = true;
  const int rounds = Rounds(count);
  const std::vector<std::size_t> numbers = Numbers(view, candidates, (std::size_t{1} << rounds) - 1);
  for (int level = 0; level < rounds; ++level) {
    const int bit = rounds - 1 - level;
    std::vector<bool> is_anchor = is_kept;
    Round round{.level = level, .epsilon = epsilon_};
    for (std::size_t i = 0; i < count; ++i) {
      if ((numbers[i] >> bit & 1) == 0 || !is_kept[candidates[i]]) continue;
      is_anchor[candidates[i]] = false;
      round.tests.push_back(view.proposals[candidates[i]].position);
    }
    if (round.tests.empty()) continue;
    round.anchors = PositionsWhere(view.proposals, is_anchor);
    std::vector<bool> is_masked(is_anchor.size());
    std::transform(is_anchor.begin(), is_anchor.end(), is_masked.begin(), std::logical_not());
    const std::vector<Position> spare = PositionsWhere(view.proposals, is_masked);
    const Probe::Reveal reveal{round.anchors, round.tests, spare};
    passes.push_back(view.probe.Run({&reveal, 1}).front());
    round.divergences = view.probe.Divergences(passes.back(), round.tests, {});
    std::size_t test = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if ((numbers[i] >> bit & 1) == 0 || !is_kept[candidates[i]]) continue;
      const bool kept = round.divergences[test++] <= epsilon_;
      round.kept.push_back(kept);
      is_kept[candidates[i]] = kept;
    }
    const auto survived = static_cast<double>(std::count(round.kept.begin(), round.kept.end(), true));
    const bool gives_up = survived < survivors_ * static_cast<double>(round.kept.size());
    plan.rounds.push_back(std::move(round));
    if (gives_up) {
      is_kept = is_sure;
      break;
    }
  }
  plan.commit = PositionsWhere(view.proposals, is_kept);
  for (std::size_t i = 0; i < plan.rounds.size(); ++i) {
    if (plan.rounds[i].anchors == plan.commit) plan.next_base = passes[i];
  }
  return plan;
}

}  // namespace

const PlannerRow kScoutRow = {
    .name = "scout",
    .summary = "commit sure tokens untested, and search for independent ones where rows have stopped moving",
    .params = kParams,
    .make = Make<ScoutPlanner>,
};

}  // namespace punt
