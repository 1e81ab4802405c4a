// A fixed team of threads for data-parallel loops inside one session.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace punt {

/// Used by one caller at a time. The caller works along, so a pool of one starts no thread.
class ThreadPool {
 public:
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls body(begin, end, worker) on disjoint ranges that cover [0, count), worker in [0, size()).
  /// Which worker gets which range is fixed by count and size. Rethrows the first exception of a body.
  using Body = std::function<void(std::size_t begin, std::size_t end, int worker)>;
  void For(std::size_t count, const Body& body);

 private:
  void Work(int worker);
  void RunShare(int worker);

  std::mutex mutex_;
  std::condition_variable start_;
  std::condition_variable done_;
  const Body* body_ = nullptr;
  std::size_t count_ = 0;
  std::size_t generation_ = 0;
  int busy_ = 0;
  bool stopping_ = false;
  std::exception_ptr failure_;
  std::vector<std::thread> workers_;
};

}  // namespace punt
