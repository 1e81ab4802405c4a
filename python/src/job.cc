#include "job.h"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <thread>

#include "convert.h"

namespace punt::py {
namespace {

using std::chrono::milliseconds;

/// How often somebody who waits looks for signals.
constexpr milliseconds kPatience{30};
/// How long the end of the interpreter waits for calls: their callbacks may be waiting for something else.
constexpr std::chrono::seconds kLastCalls{10};

/// The threads that run, of this process.
struct Running {
  std::mutex mutex;
  std::condition_variable fewer;
  std::map<std::uint64_t, std::stop_source> stops;
  std::map<std::uint64_t, std::stop_source> calls;
  std::uint64_t next = 0;
  std::thread::id ending;  // the thread that ends the interpreter

  static Running& Instance() {
    static Running* running = [] {
      pthread_atfork(nullptr, nullptr, [] { new (&Instance()) Running; });  // the threads stayed behind
      return new Running;  // never destroyed: threads may outlive the statics
    }();
    return *running;
  }
};

}  // namespace

struct Job::State {
  explicit State(nb::object callback) : notify(std::move(callback)) {}

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> pieces;  // one for each time text was told
  std::vector<Outcome> outcomes;
  std::exception_ptr failure;
  bool is_done = false;
  std::stop_source stop;
  Held notify;
  const pid_t process = getpid();

  void Notify() {
    changed.notify_all();
    if (notify.get().is_none()) return;
    nb::gil_scoped_acquire lock;
    try {
      notify.get()();
    } catch (nb::python_error& error) {
      error.discard_as_unraisable("a job's notification");
    }
  }
};

Job::Job(Work work, nb::object notify) : state_(std::make_shared<State>(std::move(notify))) {
  Running& running = Running::Instance();
  std::uint64_t number = 0;
  {
    std::lock_guard lock(running.mutex);
    number = running.next++;
    running.stops.emplace(number, state_->stop);
  }
  std::thread([state = state_, work = std::move(work), number]() mutable {
    try {
      std::vector<Outcome> outcomes = work(
          [&](std::string_view text) {
            {
              std::lock_guard lock(state->mutex);
              state->pieces.emplace_back(text);
            }
            state->Notify();
          },
          state->stop.get_token());
      std::lock_guard lock(state->mutex);
      state->outcomes = std::move(outcomes);
    } catch (...) {
      std::lock_guard lock(state->mutex);
      state->failure = std::current_exception();
    }
    work = nullptr;  // before the end is told: it may hold Python's objects
    {
      std::lock_guard lock(state->mutex);
      state->is_done = true;
    }
    state->Notify();
    state.reset();
    Running& all = Running::Instance();
    std::lock_guard lock(all.mutex);
    all.stops.erase(number);
    all.fewer.notify_all();
  }).detach();
}

Job::~Job() {
  if (getpid() == state_->process) state_->stop.request_stop();
}

void Job::RequireOwnProcess() const {
  if (getpid() == state_->process) return;
  throw Error(ErrorCode::kFailed, "this run belongs to the process that began it");
}

template <typename Ready>
void Job::WaitUntil(const Ready& ready) {
  RequireOwnProcess();
  for (;;) {
    {
      nb::gil_scoped_release release;
      std::unique_lock lock(state_->mutex);
      if (state_->changed.wait_for(lock, kPatience, ready)) return;
    }
    if (PyErr_CheckSignals() != 0) {
      state_->stop.request_stop();
      throw nb::python_error();
    }
  }
}

nb::object Job::Next() {
  WaitUntil([this] { return state_->is_done || !state_->pieces.empty(); });
  std::unique_lock lock(state_->mutex);
  if (!state_->pieces.empty()) {
    const std::string text = std::move(state_->pieces.front());
    state_->pieces.erase(state_->pieces.begin());
    lock.unlock();
    return NewText(text);
  }
  if (state_->failure) Rethrow(state_->failure);
  return nb::none();
}

nb::object Job::Take() {
  RequireOwnProcess();
  std::string text;
  bool is_done = false;
  {
    std::lock_guard lock(state_->mutex);
    for (const std::string& piece : state_->pieces) text += piece;
    state_->pieces.clear();
    is_done = state_->is_done;
  }
  return nb::make_tuple(NewText(text), is_done);
}

std::vector<Outcome> Job::Wait() {
  WaitUntil([this] { return state_->is_done; });
  std::lock_guard lock(state_->mutex);
  if (state_->failure) Rethrow(state_->failure);
  return state_->outcomes;
}

void Job::Stop() {
  RequireOwnProcess();
  state_->stop.request_stop();
}

CallScope::CallScope() {
  Running& running = Running::Instance();
  std::lock_guard lock(running.mutex);
  if (running.ending != std::thread::id() && running.ending != std::this_thread::get_id()) {
    throw Error(ErrorCode::kFailed, "the interpreter is ending");
  }
  number_ = running.next++;
  running.calls.emplace(number_, stop_);
}

CallScope::~CallScope() {
  Running& running = Running::Instance();
  std::lock_guard lock(running.mutex);
  running.calls.erase(number_);
  running.fewer.notify_all();
}

void EndAllJobs() {
  nb::gil_scoped_release release;
  Running& running = Running::Instance();
  std::unique_lock lock(running.mutex);
  running.ending = std::this_thread::get_id();
  for (auto& [number, stop] : running.stops) stop.request_stop();
  for (auto& [number, stop] : running.calls) stop.request_stop();
  running.fewer.wait(lock, [&] { return running.stops.empty(); });
  running.fewer.wait_for(lock, kLastCalls, [&] { return running.calls.empty(); });
}

}  // namespace punt::py
