// One step of generation, as a function of where a run stands. The loop in generator.cc calls it until
// the canvas is full; the enumeration in analyze/law.cc calls it for every possible proposal.
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "punt/generator.h"

namespace punt {

/// Where a run stands between two steps.
struct RunState {
  explicit RunState(Canvas initial) : canvas(std::move(initial)) {}

  Canvas canvas;
  int step = 0;
  int scope_index = 0;                   // which window is being filled
  int scope_start_step = 0;              // the step in which it was entered
  PassRef next_base;                     // a pass over exactly this canvas, if one was run already
  std::vector<Position> next_base_rows;  // the rows it promises
  PassRef previous_base;                 // of the step before, for planners that watch predictions settle
  PassRef states;                        // the last pass whose states or blocks others use, if a cache wants it
  int refresh_step = -1;                 // the last step whose base pass computed everything
  std::vector<PastStep> past;            // one per step, for planners that look back
};

struct StepOutcome {
  std::vector<Proposal> proposals;  // ranked, as the planner saw them
  Plan plan;
  bool base_was_free = false;
};

/// Forward passes under a budget. Throws Interrupted instead of running a pass too many or continuing
/// after a cancellation; Generate turns it into a stop reason. It is an exception because it must leave the
/// planner from the middle of its probing.
class Meter {
 public:
  struct Interrupted {
    StopReason reason;
  };

  Meter(DenoiserSession& session, std::int64_t max_nfe, const std::atomic<bool>* cancel);

  std::vector<PassRef> Forward(std::span<const Query> queries);
  DenoiserSession& session() { return session_; }
  Counters spent() const;

 private:
  DenoiserSession& session_;
  Counters start_;
  std::int64_t max_nfe_;
  const std::atomic<bool>* cancel_;
};

bool IsEos(const DenoiserInfo& info, Token token);

/// How a generation is cut into windows.
struct Windows {
  int size = 0;             // 0: one window
  bool is_aligned = false;  // stretches of the canvas, of which those with nothing to generate do not count
};
Windows WindowsOf(const Recipe& recipe, const DenoiserInfo& info);

/// Positions of window `index`, ascending.
std::span<const Position> ScopeOf(const Canvas& canvas, const Windows& windows, int index);

/// Predict, propose, score, plan, apply. The canvas of `state` must not be full. When Interrupted is thrown
/// no token has changed.
StepOutcome TakeStep(Meter& meter, const Recipe& recipe, RunState& state);

}  // namespace punt
