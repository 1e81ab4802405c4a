// Traces: what happened in a run, event by event. The same events drive the live terminal view, replay,
// analysis and streaming; on disk they are JSON lines, one event per line, version 2:
//
//   {"event":"run","version":2,"model":...,"planner":...,"canvas":[...],...}
//   {"event":"pieces","pieces":{"3":"d",...}}             texts of tokens, before their first use; "control":[...]
//                                                         lists those that are not text (BOS)
//   {"event":"step","step":0,"base":"forward","positions":[...],"tokens":[...],"confidence":[...]}
//   {"event":"round","step":0,"level":0,"epsilon":0.04,"anchors":[...],"tests":[...],"divergences":[...],"kept":[...]}
//   {"event":"commit","step":0,"positions":[...],"tokens":[...],"confidence":[...],"remasked":[...],"nfe":{...}}
//                                                         where tokens were replaced, also "edited":[...],
//                                                         "edited_tokens":[...],"edited_confidence":[...]; where the
//                                                         length changed, "inserted":[...],"removed":[...]
//                                                         runs that report rows (Recipe::logprobs) add "logprobs",
//                                                         "entropies" and "top", of [token, log-probability] each
//   {"event":"end","stop":"full","steps":...,"nfe":{...},"row_passes":...,"tokens":[...],"seconds":...}
//
// A file may hold several runs, one after another. Infinite divergences are written as null. Version 1 has neither
// edits nor changes of the length, and is read like version 2.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "punt/denoiser.h"
#include "punt/planner.h"
#include "punt/types.h"

namespace punt {

inline constexpr int kTraceVersion = 2;
inline constexpr int kOldestTraceVersion = 1;

struct RunEvent {
  std::string model;
  std::string planner;  // canonical spec
  std::string score;
  std::uint64_t seed = 0;
  std::uint64_t sample = 0;
  double temperature = 0;
  double top_p = 1;
  int window = 0;  // 0: the whole generation is one window
  std::string cache = "none";
  Token mask_token = 0;
  std::vector<Token> canvas;  // before the first step

  friend bool operator==(const RunEvent&, const RunEvent&) = default;
};

/// Texts of tokens that later events use.
struct PiecesEvent {
  std::map<Token, std::string> pieces;
  std::vector<Token> control = {};  // those of them that are not text, ascending

  friend bool operator==(const PiecesEvent&, const PiecesEvent&) = default;
};

/// A step begins: proposals of all masked positions of the scope, highest confidence first.
struct StepEvent {
  int step = 0;
  bool base_was_free = false;  // an earlier pass served as the base pass
  std::vector<Position> positions;
  std::vector<Token> tokens;
  std::vector<double> confidence;

  friend bool operator==(const StepEvent&, const StepEvent&) = default;
};

struct RoundEvent {
  int step = 0;
  Round round;

  friend bool operator==(const RoundEvent&, const RoundEvent&) = default;
};

/// A token of a row and its log-probability.
struct RankedToken {
  Token token = 0;
  double log_prob = 0;

  friend bool operator==(const RankedToken&, const RankedToken&) = default;
};

/// What the row of a position said in the step in which its token was committed. It is the row as sessions read it: the
/// plain softmax of the logits, before temperature and filters, conditioned on the constraint if there is one.
struct CommitRow {
  Position position = 0;
  int step = 0;
  Token token = 0;               // the one that was committed
  double log_prob = 0;           // ln p(token); -infinity if it was forced on a row that excludes it
  double entropy = 0;            // nats
  std::vector<RankedToken> top;  // the most probable tokens, best first, lowest token on ties; no impossible ones

  friend bool operator==(const CommitRow&, const CommitRow&) = default;
};

/// A step ends. All positions are those of the canvas before it; the length changes last.
struct CommitEvent {
  int step = 0;
  std::vector<Position> positions;  // commit order
  std::vector<Token> tokens;
  std::vector<double> confidence;
  std::vector<Position> remasked;
  Counters counters;                  // since the start of the run
  std::vector<Position> edited = {};  // filled positions that take another token
  std::vector<Token> edited_tokens = {};
  std::vector<double> edited_confidence = {};
  std::vector<Position> inserted = {};  // a mask appears before each, ascending
  std::vector<Position> removed = {};   // these disappear, ascending
  std::vector<CommitRow> rows = {};     // one per position, if the run reports them; else empty

  friend bool operator==(const CommitEvent&, const CommitEvent&) = default;
};

enum class StopReason { kFull, kEos, kStepLimit, kNfeLimit, kCancelled, kStopString };

/// "full", "eos", "step-limit", "nfe-limit", "cancelled", "stop-string".
std::string_view Name(StopReason reason);

struct EndEvent {
  StopReason stop = StopReason::kFull;
  int steps = 0;
  Counters counters;
  std::vector<Token> tokens;  // the final canvas
  double seconds = 0;

  friend bool operator==(const EndEvent&, const EndEvent&) = default;
};

using TraceEvent = std::variant<RunEvent, PiecesEvent, StepEvent, RoundEvent, CommitEvent, EndEvent>;

/// Receives the events of one run, in order, on the thread that generates.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void On(const TraceEvent& event) = 0;
};

/// One line, no newline.
std::string ToJsonLine(const TraceEvent& event);

/// Throws Error naming what is wrong: not JSON, an unknown event or version, a missing or mistyped field,
/// lists of different lengths, a number out of range.
TraceEvent FromJsonLine(std::string_view line);

/// Writes each event at once, and flushes. Throws Error (kFailed) when the stream fails.
class TraceWriter : public Observer {
 public:
  explicit TraceWriter(std::ostream& out) : out_(out) {}
  void On(const TraceEvent& event) override;

 private:
  std::ostream& out_;
};

/// Reads a whole trace. Errors name `name` and the line. A trace that stops in the middle of a run (no end
/// event) is accepted: runs are written as they go, and may have been interrupted.
std::vector<TraceEvent> ReadTrace(std::istream& in, std::string_view name);

}  // namespace punt
