// Fréchet (Fast-dLLM++, Kasa et al. 2026, arXiv 2606.02955): a bound from the confidence of all tokens.
//
// Idea. `factor` asks whether n tokens may go together and looks only at the least probable of them. With token
// probabilities sorted c_1 >= c_2 >= ..., whatever the dependence between them,
//     L_n = max(0, c_1 + ... + c_n - (n - 1))   is at most the probability that all n are right (Fréchet),
//     U_n = 1 - c_n                             is at least that of any other n tokens,
// so that for L_n > U_n the n most probable tokens are together the most probable ones of the joint. Commit the largest
// n with L_n - U_n > delta, at least one. L falls and U grows with n, so "the largest n" is "before the first failure".
// With equal probabilities this is factor with f = 1 - delta; with others it commits at least as many. One pass per
// step.
//
// When. The theorem is about the most probable tokens, so it covers greedy proposals (temperature 0); sampled ones
// are judged by p(y) all the same. It does not say how improbable the joint's best is: independent but uncertain
// tokens are committed one by one.
//
// Decided here. delta is their default for all tables. Sorted by p(y), whatever the run's score; equal probabilities in
// score order. A proposal deprioritised by the EOS policy counts as p = 0.
//
// Tested by frechet_test.cc (against the definition, against factor), conformance_test.cc; the theorem by enumeration
// of all canvases of small joints in exactness_test.cc.
#include <algorithm>

#include "plan/planner_rows.h"
#include "plan/selection.h"

namespace punt {
namespace {

const ParamRow kParams[] = {
    {"delta", ParamKind::kReal, "0.25", "how far the bounds must be apart; smaller commits more", 0, 1},
};

class FrechetPlanner : public Planner {
 public:
  explicit FrechetPlanner(const Params& params) : delta_(params.Real("delta")) {}

  Plan Decide(const StepView& view) const override {
    const std::vector<double> probs = TokenProbs(view.proposals);
    double doubt = 0;  // n less the sum of the n largest
    std::size_t count = 0;
    for (std::size_t i : LargestFirst(probs)) {
      doubt += 1 - probs[i];
      if (std::max(0.0, 1 - doubt) - (1 - probs[i]) <= delta_) break;
      ++count;
    }
    return {.commit = PositionsWhere(view.proposals, MarkLargest(probs, std::max<std::size_t>(count, 1)))};
  }

 private:
  double delta_;
};

}  // namespace

const PlannerRow kFrechetRow = {
    .name = "frechet",
    .summary = "commit the n most probable while a bound on their joint beats every rival by delta",
    .params = kParams,
    .make = Make<FrechetPlanner>,
};

}  // namespace punt
