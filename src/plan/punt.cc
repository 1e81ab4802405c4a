// PUNT: Parallel Unmasking with Non-influence Tests (the paper, Sections 3.1 to 3.3).
//
// Idea. Tokens committed together are drawn from their marginals; that is correct only if none of them
// would have changed another's distribution. So reveal some of the proposals (anchors), look at the rows of
// others (tests), and drop every test whose row moved by more than epsilon. Tests always have lower
// confidence than some anchor, so what survives is confident and, at the values drawn, independent.
//
// iterative. Number the proposals by confidence, best = 0. Round b splits the survivors by bit b of that
// rank, most significant first: bit 0 anchors, bit 1 tests. Two survivors differ in some bit; in the first
// such round the better one was an anchor and the other one passed. ceil(log2 m) rounds, one pass each.
//   Rank 0 has only zero bits, is never tested, and so is always committed.
// recursive. Halve the ranked set; test the lower half against the upper; recurse into the upper half and
// into what is left of the lower. Nodes of one depth run as one batch. Anchors are the node's own half
// rather than all of the round's, so neither form's result contains the other's.
// parallel. All rounds of the iterative form in one batch, each with the anchors it would have if nothing
// had been dropped. If non-influence is stable under removing anchors (the paper's assumption), passing is
// sufficient; fewer tokens survive, but a step takes two dependent calls instead of 1 + log2 m.
//
// Free base pass. When what is committed equals the anchors of a test that was run, that pass has already
// evaluated the next canvas and is handed on (free_base=false switches it off; the paper's results do not change).
//
// epsilon bounds each test, not the joint: rank r passes up to popcount(r) tests. `schedule` lets it move
// from epsilon to epsilon_end with the fraction of the scope that is committed.
//
// fallback. The paper tests in every step, and so takes more passes than there are tokens where tests find little: on
// short canvases and on text whose tokens all depend on each other. By default a step searches only if the run can
// afford it; else it commits the best token, and the run never takes more passes than one token at a time would. The
// rule is in pass_debt.h. fallback=false is the paper to the letter.
//
// Decided here where the paper is silent or contradicts itself: ranks from 0 (from 1, the bit count
// overflows at m = 2^k and the best token could be dropped); anchors are revealed, not tests (Algorithm 1
// prints y^{S1}); KL(base || new) by default, the other direction, JS and TV as options.
//
// Tested by punt_test.cc (against a literal recursion and a greedy reading of the definition), pass_debt_test.cc,
// conformance_test.cc and exactness_test.cc.
#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <numbers>
#include <numeric>

#include "plan/pass_debt.h"
#include "plan/planner_rows.h"
#include "punt/planner.h"

namespace punt {
namespace {

enum class Form { kIterative, kRecursive, kParallel };
enum class Schedule { kConstant, kLinear, kCosine };

const ParamRow kParams[] = {
    {"epsilon", ParamKind::kReal, "0.04", "largest divergence at which a token counts as uninfluenced", 0, 1e6},
    {"divergence",
     ParamKind::kChoice,
     "kl-base-new",
     "how a row's movement is measured",
     0,
     0,
     {"kl-base-new", "kl-new-base", "js", "tv"}},
    {"form",
     ParamKind::kChoice,
     "iterative",
     "order of the tests: fewest passes, own anchors, or two dependent calls",
     0,
     0,
     {"iterative", "recursive", "parallel"}},
    {"bit_order",
     ParamKind::kChoice,
     "msb",
     "which bit of the rank splits first (iterative form)",
     0,
     0,
     {"msb", "lsb"}},
    {"schedule",
     ParamKind::kChoice,
     "constant",
     "how epsilon moves with the fraction committed",
     0,
     0,
     {"constant", "linear", "cosine"}},
    {"epsilon_end", ParamKind::kReal, "0.04", "epsilon when everything is committed (linear, cosine)", 0, 1e6},
    {"test_temperature", ParamKind::kReal, "1", "temperature of the compared rows", 1e-3, 1e3},
    {"test_top_p", ParamKind::kReal, "1", "nucleus of the compared rows", 1e-6, 1},
    {"free_base", ParamKind::kBoolean, "true", "reuse a test pass as the next base pass where it is the same"},
    {"fallback", ParamKind::kBoolean, "true", "no tests where they do not pay: never more passes than one by one"},
};

/// Proposals by rank; rank 0 is the most confident.
using Ranks = std::vector<int>;

class PuntPlanner : public Planner {
 public:
  explicit PuntPlanner(const Params& params)
      : epsilon_(params.Real("epsilon")),
        epsilon_end_(params.Real("epsilon_end")),
        form_(static_cast<Form>(params.ChoiceIndex("form"))),
        schedule_(static_cast<Schedule>(params.ChoiceIndex("schedule"))),
        msb_first_(params.Choice("bit_order") == "msb"),
        free_base_(params.Boolean("free_base")),
        falls_back_(params.Boolean("fallback")) {
    divergence_.kind = static_cast<Divergence>(params.ChoiceIndex("divergence"));
    divergence_.temperature = params.Real("test_temperature");
    divergence_.top_p = params.Real("test_top_p");
  }

  PlannerNeeds needs() const override { return {.past_steps = falls_back_, .tests = true}; }
  Plan Decide(const StepView& view) const override;

 private:
  struct Split {
    Ranks anchors;
    Ranks tests;
  };

  /// What was asked so far: rounds and the pass of each.
  struct Asked {
    std::vector<Round> rounds;
    std::vector<PassRef> passes;
  };

  Plan Search(const StepView& view, std::size_t candidates) const;
  Ranks Iterative(const StepView& view, Ranks kept, Asked& asked) const;
  Ranks Recursive(const StepView& view, Ranks candidates, Asked& asked) const;
  Ranks Parallel(const StepView& view, Ranks kept, Asked& asked) const;
  int WorstLoss(std::size_t candidates) const;
  std::vector<Ranks> Test(const StepView& view, int level, const std::vector<Split>& splits, Asked& asked) const;
  double Epsilon(double fraction) const;

  double epsilon_;
  double epsilon_end_;
  Form form_;
  Schedule schedule_;
  bool msb_first_;
  bool free_base_;
  bool falls_back_;
  DivergenceOptions divergence_;
};

Ranks FirstRanks(std::size_t count) {
  Ranks ranks(count);
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

std::vector<Position> PositionsAt(const StepView& view, const Ranks& ranks) {
  std::vector<Position> positions;
  positions.reserve(ranks.size());
  for (int rank : ranks) positions.push_back(view.proposals[static_cast<std::size_t>(rank)].position);
  return positions;
}

/// Bits needed to tell m ranks apart: ceil(log2 m).
int BitCount(std::size_t m) { return static_cast<int>(std::bit_width(m - 1)); }

/// Ascending ranks of `all` that are not in `removed`.
Ranks Without(const Ranks& all, const Ranks& removed) {
  Ranks rest;
  std::set_difference(all.begin(), all.end(), removed.begin(), removed.end(), std::back_inserter(rest));
  return rest;
}

double PuntPlanner::Epsilon(double fraction) const {
  switch (schedule_) {
    case Schedule::kConstant:
      return epsilon_;
    case Schedule::kLinear:
      return epsilon_ + (epsilon_end_ - epsilon_) * fraction;
    case Schedule::kCosine:
      return epsilon_end_ + (epsilon_ - epsilon_end_) * (1 + std::cos(std::numbers::pi * fraction)) / 2;
  }
  return epsilon_;
}

/// Runs one pass per split, all in one call; returns for each split the tests that survived it.
std::vector<Ranks> PuntPlanner::Test(const StepView& view, int level, const std::vector<Split>& splits,
                                     Asked& asked) const {
  const double epsilon = Epsilon(view.fraction());
  std::vector<std::vector<Position>> spare;
  std::vector<Round> rounds;
  for (const Split& split : splits) {
    rounds.push_back({.level = level,
                      .anchors = PositionsAt(view, split.anchors),
                      .tests = PositionsAt(view, split.tests),
                      .epsilon = epsilon});
    // To serve as the next base pass, it would have to give the rows of everything that is still masked then.
    spare.push_back(free_base_ ? PositionsAt(view, Without(FirstRanks(view.proposals.size()), split.anchors))
                               : std::vector<Position>{});
  }
  std::vector<Probe::Reveal> reveals;
  for (std::size_t i = 0; i < splits.size(); ++i) reveals.push_back({rounds[i].anchors, rounds[i].tests, spare[i]});
  const std::vector<PassRef> passes = view.probe.Run(reveals);

  std::vector<Ranks> survivors(splits.size());
  for (std::size_t i = 0; i < splits.size(); ++i) {
    Round& round = rounds[i];
    round.divergences = view.probe.Divergences(passes[i], round.tests, divergence_);
    for (std::size_t j = 0; j < round.tests.size(); ++j) {
      const bool kept = round.divergences[j] <= epsilon;
      round.kept.push_back(kept);
      if (kept) survivors[i].push_back(splits[i].tests[j]);
    }
    asked.rounds.push_back(round);
    asked.passes.push_back(passes[i]);
  }
  return survivors;
}

Ranks PuntPlanner::Iterative(const StepView& view, Ranks kept, Asked& asked) const {
  const int bits = BitCount(kept.size());
  for (int level = 0; level < bits; ++level) {
    const int bit = msb_first_ ? bits - 1 - level : level;
    Split split;
    for (int rank : kept) ((rank >> bit & 1) == 0 ? split.anchors : split.tests).push_back(rank);
    if (split.anchors.empty() || split.tests.empty()) continue;
    const Ranks removed = Without(split.tests, Test(view, level, {split}, asked).front());
    kept = Without(kept, removed);
  }
  return kept;
}

Ranks PuntPlanner::Recursive(const StepView& view, Ranks candidates, Asked& asked) const {
  std::vector<Ranks> nodes = {std::move(candidates)};
  for (int level = 0;; ++level) {
    std::vector<Split> splits;
    for (const Ranks& node : nodes) {
      if (node.size() < 2) continue;
      const auto middle = node.begin() + static_cast<std::ptrdiff_t>(node.size() / 2);
      splits.push_back({Ranks(node.begin(), middle), Ranks(middle, node.end())});
    }
    if (splits.empty()) break;
    const std::vector<Ranks> survivors = Test(view, level, splits, asked);

    std::vector<Ranks> next;
    std::size_t split = 0;
    for (const Ranks& node : nodes) {
      if (node.size() < 2) {
        next.push_back(node);
      } else {
        next.push_back(splits[split].anchors);
        next.push_back(survivors[split]);
        ++split;
      }
    }
    nodes = std::move(next);
  }
  Ranks kept;
  for (const Ranks& node : nodes) kept.insert(kept.end(), node.begin(), node.end());
  return kept;
}

Ranks PuntPlanner::Parallel(const StepView& view, Ranks kept, Asked& asked) const {
  const int bits = BitCount(kept.size());
  if (bits == 0) return kept;
  std::vector<Split> splits(static_cast<std::size_t>(bits));
  for (int bit = bits - 1; bit >= 0; --bit) {
    Split& split = splits[static_cast<std::size_t>(bits - 1 - bit)];
    for (int rank : kept) ((rank >> bit & 1) == 0 ? split.anchors : split.tests).push_back(rank);
  }
  const std::vector<Ranks> survivors = Test(view, 0, splits, asked);
  for (std::size_t i = 0; i < splits.size(); ++i) {
    asked.rounds[i].level = static_cast<int>(i);
    kept = Without(kept, Without(splits[i].tests, survivors[i]));
  }
  return kept;
}

/// When a search finds nothing, the last test of the iterative form has revealed only the best token, and serves as
/// the next base pass. The recursive form may test at every node.
int PuntPlanner::WorstLoss(std::size_t candidates) const {
  if (form_ == Form::kRecursive) return static_cast<int>(candidates) - 1;
  return BitCount(candidates) - (form_ == Form::kIterative && free_base_ ? 1 : 0);
}

Plan PuntPlanner::Search(const StepView& view, std::size_t candidates) const {
  Asked asked;
  Ranks kept = FirstRanks(candidates);
  switch (form_) {
    case Form::kIterative:
      kept = Iterative(view, std::move(kept), asked);
      break;
    case Form::kRecursive:
      kept = Recursive(view, std::move(kept), asked);
      break;
    case Form::kParallel:
      kept = Parallel(view, std::move(kept), asked);
      break;
  }
  Plan plan{.commit = PositionsAt(view, kept), .rounds = std::move(asked.rounds)};
  for (std::size_t i = 0; free_base_ && i < plan.rounds.size(); ++i) {
    if (plan.rounds[i].anchors == plan.commit) plan.next_base = asked.passes[i];
  }
  return plan;
}

Plan PuntPlanner::Decide(const StepView& view) const {
  if (!falls_back_) return Search(view, view.proposals.size());
  const std::size_t candidates = AffordableCandidates(view, [this](std::size_t count) { return WorstLoss(count); });
  return candidates > 0 ? Search(view, candidates) : CommitWithoutTests(view);
}

}  // namespace

const PlannerRow kPuntRow = {
    .name = "punt",
    .summary = "commit confident tokens that do not influence each other, found by O(log m) test passes",
    .params = kParams,
    .make = [](const Params& params) -> std::shared_ptr<const Planner> {
      return std::make_shared<PuntPlanner>(params);
    },
};

}  // namespace punt
