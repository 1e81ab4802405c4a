// Factor (Fast-dLLM, Wu et al. 2025, arXiv 2505.22618): a threshold that rises with the number of tokens.
//
// Idea. The more tokens are committed together, the surer each must be. With token probabilities sorted
// c_1 >= c_2 >= ..., commit the n most probable for the largest n with (n + 1)(1 - c_n) < f, at least one.
// (The theorem behind it: if (n + 1) times the largest doubt is at most 1, the argmax of the product is the
// argmax of the joint.) The left side never falls as n grows, so "the largest n" is "before the first
// failure". One pass per step.
//
// Decided here. Sorted by p(y), whatever the run's score; equal probabilities in score order. A
// proposal deprioritised by the EOS policy counts as p = 0. The original counts one token too many when
// its scan stops at the last rank, whether or not that rank passed; here the definition decides.
//
// Tested by factor_test.cc (against the definition; the last rank), conformance_test.cc.
#include <algorithm>

#include "plan/planner_rows.h"
#include "plan/selection.h"

namespace punt {
namespace {

const ParamRow kParams[] = {
    {"f", ParamKind::kReal, "1", "bound on (n + 1)(1 - c_n); larger commits more", 0, 1e6},
};

class FactorPlanner : public Planner {
 public:
  explicit FactorPlanner(const Params& params) : f_(params.Real("f")) {}

  Plan Decide(const StepView& view) const override {
    const std::vector<double> probs = TokenProbs(view.proposals);
    std::vector<double> sorted = probs;
    std::sort(sorted.rbegin(), sorted.rend());
    std::size_t count = 0;
    while (count < sorted.size() && static_cast<double>(count + 2) * (1 - sorted[count]) < f_) ++count;
    return {.commit = PositionsWhere(view.proposals, MarkLargest(probs, std::max<std::size_t>(count, 1)))};
  }

 private:
  double f_;
};

}  // namespace

const PlannerRow kFactorRow = {
    .name = "factor",
    .summary = "commit the n most probable for the largest n with (n + 1)(1 - c_n) < f",
    .params = kParams,
    .make = Make<FactorPlanner>,
};

}  // namespace punt
