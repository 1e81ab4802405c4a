// Running an evaluation: every item is generated, judged and recorded; then the summary is made.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "eval/eval_log.h"
#include "eval/task.h"
#include "punt/generator.h"
#include "punt/sampling.h"

namespace punt {

class AnswerLanguage;

struct EvalJob {
  Task* task = nullptr;
  const Model* model = nullptr;        // null: the task makes its responses itself
  std::size_t count = 0;               // items
  Recipe recipe = {};                  // item i is generated as sample i
  std::vector<std::string> stop = {};  // strings before which a response ends
  Sampling language = {};              // of which only the constraints count: what is written is held to them
  SessionOptions session = {};         // tokens banned by the task are added; the prompt of guidance is each item's
  EvalLog* log = nullptr;              // optional
  const std::atomic<bool>* cancel = nullptr;
  std::function<void(std::size_t done)> on_progress = {};  // before every item
};

/// Runs single items of a job, all in one session. Used by one thread; the job must outlive it. Does not use logs.
class ItemRunner {
 public:
  explicit ItemRunner(const EvalJob& job);
  ~ItemRunner();

  /// The record as it can be read back; nothing after a cancellation.
  std::optional<EvalRecord> Run(std::size_t index);

 private:
  std::vector<Token> BannedTokens() const;
  std::unique_ptr<DenoiserSession> SessionOf(std::span<const Token> canvas) const;
  Constraint ConstraintOf(const EvalItem& item);
  std::optional<EvalResponse> Respond(std::size_t index, const EvalItem& item, EvalRecord& record);

  const EvalJob& job_;
  std::unique_ptr<AnswerLanguage> language_;  // the job's
  std::unique_ptr<DenoiserSession> session_;  // null: the task makes its responses itself
};

/// The records of all items in order; fewer after a cancellation. Those in the log are taken from there.
std::vector<EvalRecord> RunItems(const EvalJob& job);

/// Means of what Work counts.
struct WorkSummary {
  double calls = 0;
  double row_passes = 0;
  double tokens = 0;
  Estimate tokens_per_forward;  // all tokens over all passes
};

struct EvalSummary {
  std::size_t items = 0;
  std::size_t unfinished = 0;        // of these, stopped by a limit with positions still open
  std::optional<Estimate> accuracy;  // if the task says what is correct
  Estimate nfe;
  double base_passes = 0;  // mean
  double test_passes = 0;  // mean
  Estimate steps;
  std::optional<WorkSummary> work;  // if all records have it
  double seconds = 0;               // mean
  std::vector<Figure> figures;      // the task's own
  std::vector<std::string> notes;   // the task's own, and on unfinished items
};

/// Whether a run that stopped for this reason (a StopReason's name) was ended by a limit, with positions still open.
bool IsUnfinished(std::string_view stop);

/// "2 of 3 texts are unfinished: a limit on passes or steps ended them"; empty if there are none.
std::string UnfinishedNote(std::size_t unfinished, std::size_t all);

/// `records` is not empty.
EvalSummary Summarise(const Task& task, std::span<const EvalRecord> records);

/// The costs besides nfe_mean, steps_mean and seconds_mean.
std::vector<Figure> CostFigures(const EvalSummary& summary);

}  // namespace punt
