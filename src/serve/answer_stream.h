// From a running completion to the bytes of its answer.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>

#include "serve/completion.h"
#include "serve/completion_json.h"
#include "serve/responses_form.h"

namespace punt {

/// Used by one thread.
class AnswerStream {
 public:
  /// When its request came, and what can end it from outside.
  struct Ending {
    std::chrono::steady_clock::time_point start;
    std::chrono::steady_clock::time_point deadline;
    const std::atomic<bool>* must_end = nullptr;
  };

  AnswerStream(std::unique_ptr<Completion> completion, AnswerHead head, const CompletionRequest& request,
               Metrics& metrics, const Ending& ending);

  /// Waits for the end. Throws what ended a choice otherwise.
  void Finish(const std::function<bool()>& is_gone);

  /// The answer in one piece, once finished. Throws ApiError when there is none.
  std::string Whole() const;

  /// The next bytes of a stream of server-sent events; empty when there is nothing yet.
  std::string Next(const std::function<bool()>& is_gone);

  void Cancel() { completion_->Cancel(); }
  bool is_done() const { return is_done_; }
  /// The client has gone, or does not keep up.
  bool is_given_up() const { return is_given_up_; }

  /// id, nfe, steps, tokens, for the log.
  nlohmann::ordered_json LogFields() const;

 private:
  /// Checks what could end the answer early.
  void CheckEnding(const std::function<bool()>& is_gone);
  std::string Show(const StreamPart& part);
  /// Text and calls of a part that is the last of its choice or not.
  std::string ShowParts(const StreamPart& part, bool is_last);
  std::string End(const StreamPart& part);
  std::string Tail();
  double Seconds() const;
  bool IsCut(const ChoiceResult& result) const;

  std::unique_ptr<Completion> completion_;
  AnswerHead head_;
  bool include_usage_;
  StreamKind kind_;
  Metrics& metrics_;
  Ending ending_;
  std::chrono::steady_clock::time_point last_sign_ = std::chrono::steady_clock::now();
  struct Calls {
    CallSplit split;
    int count = 0;  // sent so far
  };

  std::set<int> begun_;  // choices whose role has been sent
  std::optional<ResponsesForm> responses_;
  std::map<int, Calls> calls_;  // of the choices of a chat
  bool has_text_ = false;
  bool is_done_ = false;
  bool is_given_up_ = false;
  bool is_out_of_time_ = false;
  bool is_shut_down_ = false;  // that is why
};

}  // namespace punt
