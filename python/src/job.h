// Work on a thread of its own, whose texts and results Python takes when it likes: streams, batches, asyncio.
//
// A job belongs to whoever waits for it. One that is dropped or stopped ends within a pass, by itself; the interpreter
// waits for all of them before it ends (EndAllJobs). A process that is forked off has none of them.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <vector>

#include "held.h"
#include "punt/writer.h"

namespace punt::py {

/// An answer with everything that happened.
struct Outcome {
  Answer answer;
  std::vector<TraceEvent> events;
};

class Job {
 public:
  using Tell = std::function<void(std::string_view text)>;
  /// Runs without the interpreter's lock.
  using Work = std::function<std::vector<Outcome>(const Tell& tell, std::stop_token stop)>;

  /// `notify` is called without arguments, on the job's thread, whenever there is something to take; or it is None.
  Job(Work work, nb::object notify);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// The next text; None when there will be none. Waits without the interpreter's lock; an exception, KeyboardInterrupt
  /// included, stops the job.
  nb::object Next();
  /// What is there: its texts so far as one, and whether that was all. Does not wait.
  nb::object Take();
  /// Waits for the end. Throws what the work threw.
  std::vector<Outcome> Wait();
  void Stop();

 private:
  struct State;
  /// Waits until `ready`, or a signal.
  template <typename Ready>
  void WaitUntil(const Ready& ready);
  void RequireOwnProcess() const;

  std::shared_ptr<State> state_;
};

/// A call that a thread waits for. Made before the interpreter's lock is given up, so that it ends when that is back: a
/// thread that Python ends while it waits for the lock in the middle of the engine would take the process along.
class CallScope {
 public:
  /// Throws Error when the interpreter is ending, except on the thread that ends it.
  CallScope();
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  /// Requested when the interpreter ends.
  std::stop_token stop() const { return stop_.get_token(); }
  /// The same as a flag.
  const std::atomic<bool>* cancel() const { return &is_cancelled_; }

 private:
  std::uint64_t number_ = 0;
  std::stop_source stop_;
  std::atomic<bool> is_cancelled_ = false;
  std::stop_callback<std::function<void()>> on_stop_{stop_.get_token(), [this] { is_cancelled_ = true; }};
};

/// Stops all jobs and waits until their threads are gone, and for a few seconds for calls of other threads. Called with
/// the interpreter's lock, before the interpreter ends.
void EndAllJobs();

}  // namespace punt::py
