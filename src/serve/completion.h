// One running request: a thread per choice generates, and the connection's thread takes what there is to send. (A
// generation must run on its own thread, because the batch hub blocks it until all running sequences want a pass.)
// Choice j of prompt i has number i * n + j.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "punt/generator.h"
#include "punt/model.h"
#include "serve/completion_request.h"
#include "serve/metrics.h"
#include "serve/prompt_canvas.h"
#include "serve/prompt_scores.h"
#include "serve/scheduler.h"
#include "writer/growing_text.h"

namespace punt {

struct ChoiceResult {
  FinishedText text;
  GenerateResult run;
  std::vector<TextToken> tokens = {};       // of the text, if log-probabilities are asked for
  std::optional<EchoedPrompt> echoed = {};  // of a prompt's first choice, if it is to be repeated
};

/// What a stream sends of a choice.
struct StreamPart {
  int choice = 0;
  std::string text;            // settled text to append, or a snapshot to replace the last one
  std::string reasoning = {};  // the same of the model's thoughts
  std::string event;           // a line of the trace
  std::string logprobs = {};   // of settled tokens, as JSON; empty: none
  double progress = 0;         // share of positions that are filled, of a snapshot
  bool is_end = false;         // the choice is done and its result available
};

/// Totals over all choices.
struct Usage {
  std::int64_t prompt_tokens = 0;
  std::int64_t completion_tokens = 0;
  std::int64_t base_passes = 0;
  std::int64_t test_passes = 0;
  std::int64_t steps = 0;

  std::int64_t nfe() const { return base_passes + test_passes; }
};

/// Used by one thread. Destroying it cancels what is still running and waits for it.
class Completion {
 public:
  /// Takes places in the queue. Throws ApiError: 400 for what the model cannot take, and what Scheduler::Admit throws.
  Completion(const Model& model, Scheduler& scheduler, Metrics& metrics, const CompletionRequest& request,
             const std::string& client);
  ~Completion();
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;

  /// Waits for the next part, at most for `patience`; none when the time is up. Throws what ended a choice.
  std::optional<StreamPart> Next(std::chrono::milliseconds patience);

  /// Whether all choices have ended and every part has been taken.
  bool is_done();

  /// Whether more parts are waiting for the client than should be kept for it.
  bool is_overfull();

  void Cancel();

  /// Of all choices, once done.
  const std::vector<std::optional<ChoiceResult>>& results() const { return results_; }
  Usage usage() const;
  const RequestSeed& seed() const { return seed_; }
  const CompletionRequest& request() const { return request_; }
  const Tokenizer& tokenizer() const { return *model_.tokenizer; }

 private:
  class Watcher;

  /// Of a choice.
  const PromptCanvas& canvas_of(std::size_t choice) const {
    return canvases_[choice / static_cast<std::size_t>(request_.choices)];
  }
  void MakeRecipeFor(const DenoiserInfo& info);
  void Constrain(const DenoiserInfo& info);
  void StartThreads(std::vector<std::unique_ptr<Scheduler::Slot>> slots);
  void Generate(std::size_t choice, std::unique_ptr<Scheduler::Slot> slot);
  /// Nothing when it was cancelled before there was anything to tell.
  std::optional<ChoiceResult> Run(std::size_t choice, DenoiserSession& session);
  void Join();
  void Put(StreamPart part);

  const Model& model_;
  Scheduler& scheduler_;
  Metrics& metrics_;
  CompletionRequest request_;
  std::vector<PromptCanvas> canvases_;  // a prompt each
  RequestSeed seed_;
  Recipe recipe_;
  std::vector<Constraint> constraints_;  // a prompt each
  std::string planner_;
  std::unique_ptr<std::atomic<bool>[]> cancels_;  // a choice each
  std::vector<std::optional<ChoiceResult>> results_;

  mutable std::mutex mutex_;  // of what follows, and of results_ until done
  std::condition_variable changed_;
  std::deque<StreamPart> parts_;
  std::size_t waiting_bytes_ = 0;
  int running_ = 0;
  std::exception_ptr failure_;

  std::vector<std::thread> threads_;
};

}  // namespace punt
