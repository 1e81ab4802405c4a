// Evaluation tasks: what a model is asked to generate and how the result is judged.
//
// A task makes items (each a canvas to fill), judges every finished item by named numbers, and sums all of them up.
// run.h generates, keeps the records and continues where an earlier run stopped; therefore item i must
// depend only on the task's setup and i, and a summary only on the records.
//
// CONTRIBUTING.md says how to add one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "constrain/byte_automaton.h"
#include "punt/model.h"
#include "punt/sampler.h"
#include "punt/spec.h"
#include "punt/types.h"
#include "report/confidence.h"
#include "report/measurement.h"

namespace punt {

struct EvalItem {
  std::string id;             // decided by the data and the index, not by the seed
  std::string prompt;         // for the record
  std::vector<Token> canvas;  // masks are to be generated
  std::string reference;      // for the record: what would be right, if there is such a thing

  // What the task knows of a right text, if it was asked to hold answers to that; and which positions are that text.
  std::shared_ptr<const ByteAutomaton> language = {};
  std::size_t language_begin = 0;
  std::size_t language_end = 0;
};

/// A filled canvas and its text as the task reads it.
struct EvalResponse {
  std::vector<Token> tokens;
  std::string text;
  bool ended = false;  // for a task's own responses: at an end of sequence, and not for lack of room
};

/// What generating an item cost, besides its passes and steps.
struct Work {
  std::int64_t calls = 0;       // batches of passes, each of which had to wait for the one before
  std::int64_t row_passes = 0;  // canvas rows that were computed
  std::int64_t tokens = 0;      // committed by the planner
};

/// What is kept of a finished item.
struct EvalRecord {
  std::string id;
  std::string prompt;
  std::string reference;
  std::string response;
  Measurement verdict;  // finite numbers
  std::int64_t base_passes = 0;
  std::int64_t test_passes = 0;
  int steps = 0;
  std::optional<Work> work = {};  // none: a response that the task made, or a record without it
  double seconds = 0;
  std::string stop;

  std::int64_t nfe() const { return base_passes + test_passes; }
};

/// One line of a summary.
struct Figure {
  std::string name;
  double value = 0;
  std::optional<Interval> ci95 = {};
  bool is_detail = false;    // for machines: left out of tables for readers
  bool is_estimate = false;  // has an interval, if there are enough items
};

inline Figure FigureOf(std::string name, const Estimate& estimate) {
  return {.name = std::move(name), .value = estimate.value, .ci95 = estimate.ci95, .is_estimate = true};
}

/// The verdict that becomes the accuracy: 1 or 0.
inline constexpr const char* kCorrect = "correct";
inline constexpr const char* kAccuracy = "accuracy";

/// Used by one thread at a time; judging may run a model of its own.
class Task {
 public:
  virtual ~Task() = default;

  /// The number of items; 0: any number.
  virtual std::size_t size() const = 0;
  /// How many are run by default.
  virtual std::size_t usual_count() const = 0;
  virtual EvalItem Item(std::size_t index) const = 0;

  /// Tokens that must not be generated.
  virtual std::vector<Token> BannedTokens() const { return {}; }

  /// The response's text; `tokens` is the item's canvas, filled.
  virtual std::string ResponseText(const EvalItem& item, std::span<const Token> tokens) const = 0;

  /// A task that makes its responses itself, without a model, returns one.
  virtual std::optional<EvalResponse> OwnResponse(std::size_t index) { return (void)index, std::nullopt; }

  virtual Measurement Judge(std::size_t index, const EvalItem& item, const EvalResponse& response) = 0;

  /// Figures besides the accuracy and the costs. `records` is not empty.
  virtual std::vector<Figure> Summarise(std::span<const EvalRecord> records) const = 0;

  /// What a reader of the summary should know, one sentence each.
  virtual std::vector<std::string> Notes() const { return {}; }
};

/// Everything that decides the items and verdicts, besides the parameters.
struct TaskSetup {
  const Model* model = nullptr;  // outlives the task; null: the task makes its responses itself
  std::string data = {};         // path; empty: none
  std::string shots = {};        // path of worked examples; empty: none
  std::string judge = {};        // path of a model that judges; empty: none
  std::string reference = {};    // folder of a run whose texts have the right law; empty: none
  std::optional<int> length = {};
  bool constrained = false;  // items have a language
  std::uint64_t seed = 0;
  ProposalOptions proposal = {};  // for responses that the task makes itself
  int threads = 1;                // changes only speed
};

struct TaskRow {
  std::string_view name;
  std::string_view summary;
  std::string_view data_help;  // where its data comes from
  std::span<const ParamRow> params;
  bool takes_data = false;
  bool takes_shots = false;
  bool takes_judge = false;
  bool takes_reference = false;
  bool has_reference = false;  // runs without a model
  bool has_language = false;   // knows something of right texts before they are written
  std::string_view quality;    // the figure that represents the result where there is room for only one
  bool less_is_better = false;
  std::string_view model_kind = "text, such as LLaDA or Dream";  // what a model for it must be a model of
  std::string_view bundled_model = {};                           // the bundled one for it, if any
  double (*usual_temperature)(const Params& params) = nullptr;   // if the task has its own
  std::unique_ptr<Task> (*make)(const Params& params, const TaskSetup& setup);
};

}  // namespace punt
