// A fixed team of threads for data-parallel loops inside one session.
//
// No thread waits for one that has not begun. A loop is cut into portions; a free thread takes the next one, so a
// helper that the system keeps from running, because other programs use the processors, takes none, and the caller
// does its share. At the end the caller waits only for portions that a helper is in the middle of, which is why they
// are small; if even that takes too long, it works alone for a while (solo_time.h). Waiting threads spin for
// a few microseconds, because the next loop of a forward pass follows at once, and then sleep: what they wait for may
// need their processor.
//
// (With a barrier in the usual sense, where every thread has its own share and all wait for the last, everything stops
// for a scheduler's time slice, milliseconds, whenever one thread is not running: hundreds of times in a forward pass.)
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "base/solo_time.h"

namespace punt {

/// What tests need to control. Both are called by several threads.
struct ThreadPoolHooks {
  std::function<void(int worker)> before_work = {};    // by every helper, before it looks for its first portion
  std::function<std::chrono::nanoseconds()> now = {};  // default: the steady clock
};

/// Used by one caller at a time. The caller works too, so a pool of one starts no thread.
class ThreadPool {
 public:
  explicit ThreadPool(int threads, ThreadPoolHooks hooks = {});
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(helpers_.size()) + 1; }

  /// Calls body(begin, end, worker) on disjoint ranges that cover [0, count), worker in [0, size()), the caller 0. No
  /// two calls of one worker run at once. Which worker gets which range differs from run to run; the ranges are fixed
  /// by count, size and `most`, the largest range that a worker takes at once. A pool of one gets everything in one
  /// call; otherwise the caller takes the first range, so that what is in its cache stays there from loop to loop.
  /// Rethrows the first exception of a body, once all are done.
  using Body = std::function<void(std::size_t begin, std::size_t end, int worker)>;
  void For(std::size_t count, const Body& body, std::size_t most = std::numeric_limits<std::size_t>::max());

 private:
  void Help(int worker);
  bool RunPortion(int worker);
  void Run(std::size_t portion, int worker);
  bool HasWork() const;
  void SleepUntilWork();
  void WakeHelpers(std::size_t portions);
  void WaitForTheOthers();
  void Share(std::size_t begun);
  std::chrono::nanoseconds Now() const;

  const ThreadPoolHooks hooks_;
  SoloTime solo_;

  // Of the current loop; written while no portion is left to take.
  const Body* body_ = nullptr;
  std::size_t count_ = 0;
  std::size_t portions_ = 0;
  std::exception_ptr failure_;
  std::mutex failure_mutex_;

  // Which loop it is, in the upper half, and how many of its portions have not been taken yet. Taking one exchanges
  // both at once: a helper that slept through the end of a loop cannot take from the next by mistake.
  alignas(64) std::atomic<std::uint64_t> ticket_ = 0;
  alignas(64) std::atomic<std::uint32_t> unfinished_ = 0;  // portions
  alignas(64) std::atomic<std::uint32_t> calls_ = 0;       // to wake up; sleepers wait for a change
  std::atomic<int> sleepers_ = 0;
  std::atomic<bool> stopping_ = false;
  std::vector<std::thread> helpers_;
};

}  // namespace punt
