// The error that parallel sampling makes in a run: how far the distribution of each committed token was from
// the one it would have been drawn from, had the tokens committed before it in the same step been revealed.
//
//   CommitCollector collector;                       an observer: give it to Generate (Company::observer)
//   Generate(session, canvas, recipe, {.observer = &collector});
//   ParallelErrorReport report = MeasureParallelError(denoiser, collector.steps());
//
// The extra passes run in a separate session, so they never count towards the run's NFE.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "generate/canvas_replay.h"
#include "punt/denoiser.h"
#include "punt/trace.h"
#include "punt/types.h"

namespace punt {

/// One step of a run: the canvas x before it, and what was committed, in commit (confidence) order.
struct CommittedStep {
  int step = 0;
  std::vector<Token> canvas;
  std::vector<Position> positions = {};
  std::vector<Token> tokens = {};
};

/// Collects the steps of one run, or of several one after another; steps that commit nothing are left out.
/// Feeding it the events of a trace file does the same. Throws Error on events that cannot belong
/// together: a commit before any run event, a position outside the canvas.
class CommitCollector : public Observer {
 public:
  void On(const TraceEvent& event) override;
  const std::vector<CommittedStep>& steps() const { return steps_; }

 private:
  CanvasReplay canvas_;
  std::vector<CommittedStep> steps_;
};

/// The i-th committed token r_i of a step, in nats, with q = p(. | x) and p = p(. | x, y^{R_<i}) at r_i.
struct TokenError {
  int step = 0;
  Position position = 0;
  int revealed_before = 0;  // i: tokens of the same step that come before it; 0 means the error is 0
  double kl_new_base = 0;   // KL(p || q), the paper's delta_KL
  double kl_base_new = 0;   // KL(q || p); infinite when y^{R_<i} rules out a token that q could draw
};

struct ParallelErrorReport {
  std::vector<TokenError> tokens;  // in the order of the steps and commits
  double total_new_base = 0;       // sums over tokens: nats per sequence
  double total_base_new = 0;
  std::int64_t passes = 0;  // extra passes that were run
};

/// Evaluates every commit of `steps`, exactly if the denoiser is exact. It takes one extra pass for each token but the
/// first of a step, and one for the step itself; a step that commits one token costs nothing.
/// `options` must ban the tokens that the run's session banned.
ParallelErrorReport MeasureParallelError(const Denoiser& denoiser, std::span<const CommittedStep> steps,
                                         const SessionOptions& options = {});

/// The same for one step in the caller's session, which must not be the run's; adds to `report`.
void MeasureStepError(DenoiserSession& session, const CommittedStep& step, ParallelErrorReport& report);

}  // namespace punt
