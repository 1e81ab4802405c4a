// Dilated unmasking (DUS, Luxembourg et al. 2025): commit positions that are far apart.
//
// Idea. In text, neighbours depend on each other most. Cut the scope into windows of B = 2^log_window
// positions and fill a window level by level, halving the distance every time: stride B/2, B/4, ..., 1. A
// level holds the positions that its stride hits and no earlier one did; for B = 8 they are {0,4}, {2,6},
// {1,3,5,7}. The choice is pure geometry: one pass per level, no tests, no look at the predictions. Where dependence
// really falls with distance it is right for free; elsewhere it knows nothing.
//
// form=windows  windows left to right, (G/B) log2 B passes
// form=global   all windows advance together, log2 B passes
//
// Skip rule. In all levels but the last, a proposal whose token has probability < skip_threshold is not
// committed but carried to the next level (0 switches this off). The original re-masks such tokens and may
// never come back to them; here the last level takes everything that is still masked in its window.
//
// Decided here. Positions count within the scope, so prompts and holes do not disturb the pattern. A
// window cut short at the end keeps the strides of B; levels that it does not reach are left out, and a last
// level smaller than the one before is merged into it. The rule compares p(y), not the run's score,
// which may have any scale. If a whole level would be skipped, its best proposal is committed anyway, so
// every step makes progress. The level is not stored anywhere: it is the number of different steps in
// which positions of the window have been committed so far.
//
// Tested by dilated_test.cc (levels, pass counts, nothing left masked), conformance_test.cc.
#include <algorithm>
#include <set>

#include "plan/planner_rows.h"
#include "plan/selection.h"

namespace punt {
namespace {

const ParamRow kParams[] = {
    {"form", ParamKind::kChoice, "windows", "windows one after another, or all together", 0, 0, {"windows", "global"}},
    {"log_window", ParamKind::kInteger, "4", "log2 of the window size B", 1, 20},
    {"skip_threshold", ParamKind::kReal, "0.3", "less probable tokens wait for the next level; 0: none do", 0, 1},
};

/// The level of each index of a window: 0 is filled first. `size` <= B = 2^log_window.
std::vector<int> LevelsOf(std::size_t size, int log_window) {
  std::vector<std::vector<std::size_t>> levels;
  std::vector<bool> taken(size);
  for (std::size_t stride = std::size_t{1} << (log_window - 1); stride > 0; stride /= 2) {
    std::vector<std::size_t> level;
    for (std::size_t i = 0; i < size; i += stride) {
      if (!taken[i]) level.push_back(i);
      taken[i] = true;
    }
    if (!level.empty()) levels.push_back(level);
  }
  if (levels.size() > 1 && levels.back().size() < levels[levels.size() - 2].size()) {
    const std::vector<std::size_t> last = levels.back();
    levels.pop_back();
    levels.back().insert(levels.back().end(), last.begin(), last.end());
  }
  std::vector<int> level_of(size);
  for (std::size_t level = 0; level < levels.size(); ++level) {
    for (std::size_t i : levels[level]) level_of[i] = static_cast<int>(level);
  }
  return level_of;
}

class DilatedPlanner : public Planner {
 public:
  explicit DilatedPlanner(const Params& params)
      : is_global_(params.Choice("form") == "global"),
        log_window_(params.Integer("log_window")),
        skip_threshold_(params.Real("skip_threshold")) {}

  Plan Decide(const StepView& view) const override;

 private:
  /// Level of every index of the scope; windows repeat the pattern.
  std::vector<int> ScopeLevels(std::size_t scope_size) const {
    std::vector<int> levels;
    const std::size_t size = std::size_t{1} << log_window_;
    while (levels.size() < scope_size) {
      const std::vector<int> window = LevelsOf(std::min(size, scope_size - levels.size()), log_window_);
      levels.insert(levels.end(), window.begin(), window.end());
    }
    return levels;
  }

  bool is_global_;
  int log_window_;
  double skip_threshold_;
};

Plan DilatedPlanner::Decide(const StepView& view) const {
  // The indices of the scope that are being filled: the first window with a mask in it, or everything.
  std::size_t begin = 0;
  std::size_t end = view.scope.size();
  if (!is_global_) {
    while (!view.canvas.is_masked(view.scope[begin])) ++begin;
    begin = begin >> log_window_ << log_window_;
    end = std::min(end, begin + (std::size_t{1} << log_window_));
  }
  const std::vector<int> levels = ScopeLevels(view.scope.size());
  std::set<int> steps;
  int lowest_masked = log_window_;
  for (std::size_t i = begin; i < end; ++i) {
    if (view.canvas.is_masked(view.scope[i])) {
      lowest_masked = std::min(lowest_masked, levels[i]);
    } else {
      steps.insert(view.canvas.history(view.scope[i]).commit_step);
    }
  }
  const int last = *std::max_element(levels.begin() + static_cast<std::ptrdiff_t>(begin),
                                     levels.begin() + static_cast<std::ptrdiff_t>(end));
  const int level = std::max(static_cast<int>(steps.size()), lowest_masked);

  Plan plan;
  Position best = -1;
  for (const Proposal& proposal : view.proposals) {
    const std::size_t i = ScopeIndex(view.scope, proposal.position);
    if (i < begin || i >= end || levels[i] > level) continue;
    if (best < 0) best = proposal.position;
    if (level >= last || TokenProb(proposal) >= skip_threshold_) plan.commit.push_back(proposal.position);
  }
  if (plan.commit.empty()) plan.commit.push_back(best);
  return plan;
}

}  // namespace

const PlannerRow kDilatedRow = {
    .name = "dilated",
    .summary = "commit positions far apart, halving the distance every step",
    .params = kParams,
    .make = Make<DilatedPlanner>,
};

}  // namespace punt
