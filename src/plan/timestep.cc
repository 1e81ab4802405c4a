// Timestep: the reverse process of masked diffusion, discretised (MDLM, Sahoo et al. 2024, arXiv
// 2406.07524; Dream's `diffusion_generate`, Ye et al. 2025, arXiv 2508.15487).
//
// Time runs from 1 (all masked) to eps in `steps` equal steps, t_j = linspace(1, eps, steps + 1). In step
// j with t = t_j and s = t_{j+1} a masked position is revealed with probability 1 - s/t, so that a share
// of about s of the scope is masked afterwards. Three ways to choose which:
//   (default)    the int(m (1 - s/t)) most confident of the m masked positions
//   alg_temp>0   as many, drawn without replacement with weights softmax(confidence / alg_temp)
//   origin=true  each masked position on its own with probability 1 - s/t: the original process
// The last step commits everything. At most `steps` passes, fewer when a step changes nothing and its base
// pass serves again. The number of tokens per step is fixed beforehand and blind to the text.
//
// The draw without replacement is Gumbel top-n: add a Gumbel number to confidence / alg_temp, take the n
// largest. A widely used implementation draws with replacement, so that positions repeat and fewer tokens
// are committed than planned.
//
// Decided here. m is counted at every step (not fixed at the start), as the originals do. `origin` goes
// before alg_temp. Steps beyond the schedule commit everything, like the last one.
//
// Tested by timestep_test.cc (counts, frequencies, no position twice), conformance_test.cc.
#include "plan/planner_rows.h"
#include "plan/selection.h"
#include "punt/random.h"

namespace punt {
namespace {

const ParamRow kParams[] = {
    {"steps", ParamKind::kInteger, "512", "steps of the schedule", 1, 1e6},
    {"eps", ParamKind::kReal, "0.001", "time at which the schedule ends", 0, 0.999},
    {"origin", ParamKind::kBoolean, "false", "commit each position independently with probability 1 - s/t"},
    {"alg_temp", ParamKind::kReal, "0", "temperature at which positions are drawn; 0: the most confident", 0, 1e6},
};

class TimestepPlanner : public Planner {
 public:
  explicit TimestepPlanner(const Params& params)
      : steps_(params.Integer("steps")),
        eps_(params.Real("eps")),
        is_origin_(params.Boolean("origin")),
        alg_temp_(params.Real("alg_temp")) {}

  Plan Decide(const StepView& view) const override {
    if (view.scope_step >= steps_ - 1) return {.commit = PositionsOf(view.proposals)};
    const double transfer = 1 - Time(view.scope_step + 1) / Time(view.scope_step);
    if (is_origin_) return Independent(view, transfer);
    const std::size_t count = WholePart(static_cast<double>(view.proposals.size()) * transfer);
    if (alg_temp_ == 0) return {.commit = PositionsOf(view.proposals.first(count))};
    std::vector<double> keys;
    keys.reserve(view.proposals.size());
    for (const Proposal& proposal : view.proposals) {
      RandomStream stream(view.key, proposal.position, Purpose::kPlan);
      keys.push_back(proposal.confidence / alg_temp_ + stream.Gumbel());
    }
    return {.commit = PositionsWhere(view.proposals, MarkLargest(keys, count))};
  }

 private:
  double Time(int j) const { return 1 + (eps_ - 1) * j / steps_; }

  static Plan Independent(const StepView& view, double probability) {
    Plan plan;
    for (const Proposal& proposal : view.proposals) {
      RandomStream stream(view.key, proposal.position, Purpose::kPlan);
      if (stream.Uniform() < probability) plan.commit.push_back(proposal.position);
    }
    return plan;
  }

  int steps_;
  double eps_;
  bool is_origin_;
  double alg_temp_;
};

}  // namespace

const PlannerRow kTimestepRow = {
    .name = "timestep",
    .summary = "follow the diffusion clock: commit a share 1 - s/t of the masked positions per step",
    .params = kParams,
    .make = Make<TimestepPlanner>,
    .is_scheduled = true,
};

}  // namespace punt
