#include "base/thread_pool.h"

#include <exception>
#include <utility>

#include "base/check.h"

namespace punt {

ThreadPool::ThreadPool(int threads) {
  if (threads < 1) BadInput("threads must be at least 1, got {}", threads);
  for (int worker = 1; worker < threads; ++worker) {
    workers_.emplace_back([this, worker] { Work(worker); });
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  start_.notify_all();
  for (std::thread& thread : workers_) thread.join();
}

void ThreadPool::For(std::size_t count, const Body& body) {
  if (count == 0) return;
  if (workers_.empty() || count == 1) {
    body(0, count, 0);
    return;
  }
  {
    std::lock_guard lock(mutex_);
    body_ = &body;
    count_ = count;
    busy_ = static_cast<int>(workers_.size());
    ++generation_;
  }
  start_.notify_all();
  RunShare(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return busy_ == 0; });
  body_ = nullptr;
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadPool::Work(int worker) {
  std::size_t seen = 0;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return stopping_ || generation_ != seen; });
      if (stopping_) return;
      seen = generation_;
    }
    RunShare(worker);
    {
      std::lock_guard lock(mutex_);
      --busy_;
    }
    done_.notify_one();
  }
}

void ThreadPool::RunShare(int worker) {
  const auto share = static_cast<std::size_t>(worker);
  const auto shares = static_cast<std::size_t>(size());
  const std::size_t begin = count_ * share / shares;
  const std::size_t end = count_ * (share + 1) / shares;
  if (begin == end) return;
  try {
    (*body_)(begin, end, worker);
  } catch (...) {
    std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

}  // namespace punt
