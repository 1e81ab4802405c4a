// The grammar of a trace: which event may follow which, and what it may say there.
#pragma once

#include <vector>

#include "generate/canvas_replay.h"
#include "punt/trace.h"

namespace punt {

/// Follows a trace event by event, keeping the canvas of the current run.
///
///   trace = { run { pieces | step { round | pieces } [ commit ] } [ end ] }
///
/// A step without a commit is the last of its run (a limit or a cancellation intervened); a run without
/// an end was interrupted.
class TraceOrder {
 public:
  /// Throws Error when `event` is not allowed here; the checker must not be used afterwards.
  void Check(const TraceEvent& event);

 private:
  void On(const RunEvent& event);
  void On(const PiecesEvent& event);
  void On(const StepEvent& event);
  void On(const RoundEvent& event);
  void On(const CommitEvent& event);
  void On(const EndEvent& event);

  /// What a commit says of filled positions, and of the length.
  void CheckTaken(const CommitEvent& event);
  void CheckLength(const CommitEvent& event);

  void RequireRun(const char* event) const;
  void RequireOpenStep(const char* event, int step) const;
  /// Every position lies on the canvas, none is named twice.
  void RequirePositions(const char* event, const char* field, const std::vector<Position>& positions);

  bool in_run_ = false;
  bool in_step_ = false;
  int step_ = -1;  // the open one, or the last
  CanvasReplay canvas_;
  std::vector<bool> is_generated_;
  std::vector<bool> is_proposed_;  // in the open step
  std::vector<int> seen_;          // scratch of RequirePositions: the call that saw a position last
  int calls_ = 0;
};

}  // namespace punt
