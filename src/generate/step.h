// One step of generation, as a function of where a run stands. The loop in generator.cc calls it until
// the canvas is full; the enumeration in analyze/law.cc calls it for every possible proposal.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "generate/length_change.h"
#include "generate/narrowed_session.h"
#include "generate/windows.h"
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
  int revisits = 0;                      // steps in which the scope was full
  bool is_settled = false;               // the last of them changed nothing
  std::int64_t expansions = 0;           // masks that the model has added
  std::map<Position, CommitRow> rows;    // of what is committed, if the recipe reports them
};

struct StepOutcome {
  std::vector<Proposal> proposals;  // ranked, as the planner saw them
  Plan plan;                        // as the planner made it
  std::vector<Proposal> committed;  // what was written of plan.commit, in its order
  std::vector<Proposal> edited;     // of plan.edit
  LengthChange change;              // the commits that were not written but carried out
  bool base_was_free = false;
  std::vector<CommitRow> rows;  // of what the plan commits, in its order, if the recipe reports them
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
  /// Where passes are read: rows lack the tokens that are banned.
  DenoiserSession& session();
  /// From now on; replaces an earlier ban.
  void Ban(std::vector<Token> tokens);
  Counters spent() const;

 private:
  DenoiserSession& session_;
  Counters start_;
  std::unique_ptr<NarrowedSession> narrowed_;  // null: nothing is banned
  std::int64_t max_nfe_;
  const std::atomic<bool>* cancel_;
};

bool IsEos(const DenoiserInfo& info, Token token);

/// Predict, propose, score, plan, apply. There must be a next step (revisits.h). When Interrupted is thrown
/// no token has changed.
StepOutcome TakeStep(Meter& meter, const Recipe& recipe, RunState& state);

}  // namespace punt
