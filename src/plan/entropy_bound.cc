// Entropy bound (EB-Sampler, Ben-Hamu et al. 2025, arXiv 2505.24857).
//
// Idea. Tokens committed together are drawn from the product of their marginals. The price, the KL from
// the joint of those positions to that product, is at most the sum of their entropies minus the largest
// one. So go through the positions best first and commit the longest prefix with
//     H_1 + ... + H_k - max(H_1..H_k) <= gamma,
// at least one. The left side never falls as k grows, so the first k that breaks the bound ends the scan.
// gamma = 0 commits one token per step, together with everything certain (H = 0).
// One pass per step, no test passes. The bound is pessimistic: independent but uncertain positions have
// a price of zero and are still refused; these are exactly what PUNT's tests find.
//
// Left open. The order is the run's score (the paper offers entropy, confidence or margin). The unit of
// gamma differs between implementations: nats is the default, `unit=bits` compares with the others. The
// entropies are those of the proposals, untempered unless the run scores on tempered rows.
// The running maximum is over this sequence only; a known implementation takes it over the batch.
//
// Tested by entropy_bound_test.cc (against the definition, prefix by prefix), conformance_test.cc.
#include <algorithm>
#include <numbers>

#include "plan/planner_rows.h"
#include "plan/selection.h"

namespace punt {
namespace {

const ParamRow kParams[] = {
    {"gamma", ParamKind::kReal, "0.1", "largest sum of entropies less the greatest of them", 0, 1e6},
    {"unit", ParamKind::kChoice, "nats", "unit of gamma", 0, 0, {"nats", "bits"}},
};

class EntropyBoundPlanner : public Planner {
 public:
  explicit EntropyBoundPlanner(const Params& params)
      : bound_nats_(params.Real("gamma") * (params.Choice("unit") == "bits" ? std::numbers::ln2 : 1.0)) {}

  Plan Decide(const StepView& view) const override {
    // `price` is the sum of all entropies but the greatest, kept like this and not subtracted, so that rounding
    // cannot push a prefix of certain tokens over a bound of zero. The first one is free.
    double price = 0;
    double greatest = 0;
    std::size_t count = 0;
    for (const Proposal& proposal : view.proposals) {
      price += std::min(greatest, proposal.entropy);
      greatest = std::max(greatest, proposal.entropy);
      if (price > bound_nats_) break;
      ++count;
    }
    return {.commit = PositionsOf(view.proposals.first(count))};
  }

 private:
  double bound_nats_;
};

}  // namespace

const PlannerRow kEntropyBoundRow = {
    .name = "entropy-bound",
    .summary = "commit the longest prefix whose summed entropy, less the greatest, is at most gamma",
    .params = kParams,
    .make = Make<EntropyBoundPlanner>,
};

}  // namespace punt
