// Halton (Besnier et al. 2025, arXiv 2503.17076): commit in a low-discrepancy order.
//
// Idea. As with `dilated`, positions committed together should be far apart; here the order is a
// quasi-random sequence that covers the scope evenly after any number of points, so the number of tokens
// per step is free. The original fills images in the order of a 2-D Halton sequence; in one dimension that
// is the van der Corput sequence of base 2: 0, 1/2, 1/4, 3/4, 1/8, ... Scaled to the N positions of the
// scope and rounded down, repeats removed, it gives the order; for N = 8: 0, 4, 2, 6, 1, 5, 3, 7.
//
// The arccos schedule commits little at first and much at the end: after step j of `steps`, counted from
// 1, max(j, floor(N (1 - acos(j / steps) / (pi / 2)))) positions are filled. min(steps, N) passes. Neither
// the order nor the number looks at the predictions.
//
// Decided here. The sequence starts at 0 and is not randomised. The schedule says which part of the order
// must be filled by now; a step commits all masked positions of that part, so that positions held back by
// a filter are caught up with. Should that part be filled already, the next one of the order is
// committed, so every step makes progress.
//
// Tested by halton_test.cc (order, schedule by hand), conformance_test.cc.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "plan/planner_rows.h"
#include "plan/selection.h"

namespace punt {
namespace {

const ParamRow kParams[] = {
    {"steps", ParamKind::kInteger, "64", "steps of the schedule", 1, 1e6},
};

/// The rank of each of n cells in van der Corput order.
std::vector<std::size_t> VanDerCorputRanks(std::size_t n) {
  const int bits = static_cast<int>(std::bit_width(n - 1));
  const std::size_t points = std::size_t{1} << bits;  // spaced 1/points <= 1/n: every cell is hit
  std::vector<std::size_t> rank(n, n);
  std::size_t found = 0;
  for (std::size_t i = 0; i < points; ++i) {
    std::size_t reversed = 0;
    for (int bit = 0; bit < bits; ++bit) reversed |= (i >> bit & 1) << (bits - 1 - bit);
    const std::size_t cell = reversed * n / points;
    if (rank[cell] == n) rank[cell] = found++;
  }
  return rank;
}

class HaltonPlanner : public Planner {
 public:
  explicit HaltonPlanner(const Params& params) : steps_(params.Integer("steps")) {}

  Plan Decide(const StepView& view) const override {
    const std::vector<std::size_t> rank_of = VanDerCorputRanks(view.scope.size());
    std::size_t next = view.scope.size();
    for (const Proposal& proposal : view.proposals) {
      next = std::min(next, rank_of[ScopeIndex(view.scope, proposal.position)]);
    }
    const std::size_t target = std::max(TargetAfter(view.scope_step + 1, view.scope.size()), next + 1);
    Plan plan;
    for (const Proposal& proposal : view.proposals) {
      if (rank_of[ScopeIndex(view.scope, proposal.position)] < target) plan.commit.push_back(proposal.position);
    }
    return plan;
  }

 private:
  std::size_t TargetAfter(int j, std::size_t n) const {
    if (j >= steps_) return n;
    const double share = 1 - std::acos(static_cast<double>(j) / steps_) / (std::numbers::pi / 2);
    return std::max(static_cast<std::size_t>(j), WholePart(static_cast<double>(n) * share));
  }

  int steps_;
};

}  // namespace

const PlannerRow kHaltonRow = {
    .name = "halton",
    .summary = "commit in van der Corput order on an arccos schedule",
    .params = kParams,
    .make = Make<HaltonPlanner>,
};

}  // namespace punt
