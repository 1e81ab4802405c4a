// ReMDM (Wang et al. 2025, arXiv 2503.00307): a diffusion schedule that also takes tokens back.
//
// Idea. In a masked diffusion process a token once revealed stays. ReMDM lets each revealed position go
// back to the mask with a probability sigma, and reveals correspondingly more, such that the share of
// revealed positions still follows the schedule alpha_t = 1 - t. In a step from time t to s < t
//     a revealed position is remasked with probability  sigma
//     a masked position is committed with probability   (alpha_s - (1 - sigma) alpha_t) / (1 - alpha_t)
// sigma <= sigma_max = min(1, (1 - alpha_s) / alpha_t) keeps the second one a probability. Variants:
//   cap      sigma = min(eta, sigma_max)
//   rescale  sigma = eta sigma_max
//   conf     sigma_i = sigma_max * softmax over revealed positions of -(probability at commit): doubtful
//            tokens go first; masked positions use sigma = 0
//   loop     alpha rises to alpha_on until t_on, stays there until t_off while tokens are exchanged with
//            sigma = eta, then rises to 1
// `steps` steps; a step that changes nothing costs no pass. For scripts the original uses eta = 0.008
// (cap), 0.015 (rescale), 0.02 (loop); eta = -1 stands for these. conf ignores eta.
//
// Decided here. Time runs over linspace(1, 1e-5, steps + 1); the last step ends at s = 0 instead: it
// commits everything and remasks nothing, as do steps beyond the schedule, so no clean-up is needed. A step
// of `loop` that crosses t_on or t_off uses alpha at its two ends; sigma is eta where t lies in (t_off,
// t_on]. A revealed position keeps its token (the network's prediction there is taken to be that
// token). When a scope is full before its time the run moves on; nothing is remasked after that.
//
// Tested by remdm_test.cc (frequencies against the formulas, the marginal law of the schedule),
// conformance_test.cc.
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "plan/planner_rows.h"
#include "plan/selection.h"
#include "punt/random.h"

namespace punt {
namespace {

enum class Variant { kCap, kRescale, kConf, kLoop };

constexpr double kFinalTime = 1e-5;

const ParamRow kParams[] = {
    {"variant", ParamKind::kChoice, "cap", "how sigma is set", 0, 0, {"cap", "rescale", "conf", "loop"}},
    {"steps", ParamKind::kInteger, "1024", "steps of the schedule", 1, 1e6},
    {"eta", ParamKind::kReal, "-1", "strength of remasking; -1: 0.008 for cap, 0.015 for rescale, 0.02 for loop", -1,
     1},
    {"t_on", ParamKind::kReal, "0.55", "loop: time at which remasking starts", 0.001, 0.999},
    {"t_off", ParamKind::kReal, "0.05", "loop: time at which it ends, below t_on", 0, 0.999},
    {"alpha_on", ParamKind::kReal, "0.9", "loop: share revealed in between", 0.001, 0.999},
};

double DefaultEta(Variant variant) {
  switch (variant) {
    case Variant::kCap:
      return 0.008;
    case Variant::kRescale:
      return 0.015;
    case Variant::kLoop:
      return 0.02;
    case Variant::kConf:
      return 0;
  }
  throw std::logic_error("Variant");
}

class RemdmPlanner : public Planner {
 public:
  explicit RemdmPlanner(const Params& params)
      : variant_(static_cast<Variant>(params.ChoiceIndex("variant"))),
        steps_(params.Integer("steps")),
        eta_(params.Real("eta")),
        t_on_(params.Real("t_on")),
        t_off_(params.Real("t_off")),
        alpha_on_(params.Real("alpha_on")) {
    if (eta_ < 0 && eta_ != -1) BadInput("planner remdm: eta must be -1 or between 0 and 1, got {}", eta_);
    if (t_off_ >= t_on_) BadInput("planner remdm: t_off must be below t_on, got {} and {}", t_off_, t_on_);
    if (eta_ == -1) eta_ = DefaultEta(variant_);
  }

  Plan Decide(const StepView& view) const override;

 private:
  double Time(int j) const { return 1 + (kFinalTime - 1) * j / steps_; }

  /// Share of revealed positions at time t.
  double Alpha(double t) const {
    if (variant_ != Variant::kLoop) return 1 - t;
    if (t > t_on_) return (1 - t) * alpha_on_ / (1 - t_on_);
    if (t > t_off_) return alpha_on_;
    return t == 0 ? 1 : 1 - t * (1 - alpha_on_) / t_off_;
  }

  /// sigma of all positions alike; `conf` sets it per position.
  double Sigma(double t, double sigma_max) const {
    switch (variant_) {
      case Variant::kCap:
        return std::min(eta_, sigma_max);
      case Variant::kRescale:
        return eta_ * sigma_max;
      case Variant::kConf:
        return 0;
      case Variant::kLoop:
        return t > t_off_ && t <= t_on_ ? std::min(eta_, sigma_max) : 0;
    }
    throw std::logic_error("Variant");
  }

  Variant variant_;
  int steps_;
  double eta_;
  double t_on_;
  double t_off_;
  double alpha_on_;
};

/// softmax(-probability at commit) over the revealed positions.
std::vector<double> DoubtOf(const Canvas& canvas, std::span<const Position> revealed) {
  std::vector<double> doubt;
  double sum = 0;
  for (Position position : revealed) {
    doubt.push_back(std::exp(-canvas.history(position).commit_prob));
    sum += doubt.back();
  }
  for (double& share : doubt) share /= sum;
  return doubt;
}

bool Happens(const StepView& view, Position position, double probability) {
  return RandomStream(view.key, position, Purpose::kPlan).Uniform() < probability;
}

Plan RemdmPlanner::Decide(const StepView& view) const {
  if (view.scope_step >= steps_ - 1) return {.commit = PositionsOf(view.proposals)};
  const double t = Time(view.scope_step);
  const double alpha_t = Alpha(t);
  const double alpha_s = Alpha(Time(view.scope_step + 1));
  const double sigma_max = alpha_t > 0 ? std::min(1.0, (1 - alpha_s) / alpha_t) : 1.0;
  const double sigma = Sigma(t, sigma_max);

  Plan plan;
  const double commit_probability = (alpha_s - (1 - sigma) * alpha_t) / (1 - alpha_t);
  for (const Proposal& proposal : view.proposals) {
    if (Happens(view, proposal.position, commit_probability)) plan.commit.push_back(proposal.position);
  }
  std::vector<Position> revealed;
  for (Position position : view.scope) {
    if (!view.canvas.is_masked(position)) revealed.push_back(position);
  }
  std::vector<double> sigmas(revealed.size(), sigma);
  if (variant_ == Variant::kConf) {
    sigmas = DoubtOf(view.canvas, revealed);
    for (double& share : sigmas) share *= sigma_max;
  }
  for (std::size_t i = 0; i < revealed.size(); ++i) {
    if (Happens(view, revealed[i], sigmas[i])) plan.remask.push_back(revealed[i]);
  }
  return plan;
}

}  // namespace

const PlannerRow kRemdmRow = {
    .name = "remdm",
    .summary = "follow the diffusion clock and remask revealed positions at random",
    .params = kParams,
    .make = Make<RemdmPlanner>,
    .is_scheduled = true,
    .remasks = true,
};

}  // namespace punt
