// What a view shows of a run: the canvas cell by cell, and the figures of the status lines.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "punt/trace.h"

namespace punt {

/// The colours of the paper's figure are made from these.
enum class CellState {
  kPrompt,     // given
  kMasked,     // nothing yet
  kEarlier,    // committed in an earlier step
  kAnchor,     // in this round: revealed to test others against
  kCandidate,  // in this round: tested, and kept so far
  kAccepted,   // committed in this step
  kEdited,     // another token since this step
  kRejected,   // failed a test in this step, so its proposal was not committed
};

struct Cell {
  Token token = 0;  // the token in place, or the proposal of an anchor, a candidate or a rejected position
  CellState state = CellState::kMasked;
};

struct RoundSummary {
  int anchors = 0;
  int tests = 0;
  int rejected = 0;
};

/// Follows the events of a run. Not thread-safe.
class CanvasModel : public Observer {
 public:
  /// Events must come in the order that ReadTrace accepts; the generator's do.
  void On(const TraceEvent& event) override;

  const std::vector<Cell>& cells() const { return cells_; }
  /// The text of a token; "?" as long as none was announced.
  const std::string& Piece(Token token) const;
  /// Whether it is not text, as announced with its piece.
  bool IsControl(Token token) const { return control_.contains(token); }

  const RunEvent& run() const { return run_; }
  const std::optional<EndEvent>& end() const { return end_; }
  const std::vector<RoundSummary>& rounds() const { return rounds_; }  // of the current step
  bool has_had_rounds() const { return has_had_rounds_; }
  const Counters& counters() const { return counters_; }
  int step() const { return step_; }  // -1 before the first
  int generated() const { return generated_; }
  int committed() const { return committed_; }

 private:
  void Take(const RunEvent& event);
  void Take(const PiecesEvent& event);
  void Take(const StepEvent& event);
  void Take(const RoundEvent& event);
  void Take(const CommitEvent& event);
  void Take(const EndEvent& event);
  void Settle();  // what was new in the last step is earlier now
  Cell& At(Position position) { return cells_.at(static_cast<std::size_t>(position)); }

  RunEvent run_;
  std::optional<EndEvent> end_;
  std::map<Token, std::string> pieces_;
  std::set<Token> control_;
  std::vector<Cell> cells_;
  std::vector<Token> proposals_;  // of the current step, by position
  std::vector<RoundSummary> rounds_;
  bool has_had_rounds_ = false;
  Counters counters_;
  int step_ = -1;
  int generated_ = 0;
  int committed_ = 0;
};

}  // namespace punt
