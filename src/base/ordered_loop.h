// A loop whose results are made by several threads and taken by the caller in order.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace punt {

/// Calls make(i) once for every i below `count`, on `jobs` threads (at least one; with one, on the caller's), and
/// take(i, result) on the caller's thread, with i rising from 0, as soon as that result and all before it are there.
/// Rethrows the first exception of either after work that has begun is done; nothing is begun after it.
template <typename Make, typename Take>
void MakeInOrder(std::size_t count, int jobs, const Make& make, const Take& take) {
  if (jobs <= 1) {
    for (std::size_t i = 0; i < count; ++i) take(i, make(i));
    return;
  }
  using Result = decltype(make(std::size_t{0}));
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::optional<Result>> results(count);
  std::size_t next = 0;
  std::exception_ptr failure;

  const auto work = [&] {
    std::unique_lock lock(mutex);
    while (next < count && !failure) {
      const std::size_t mine = next++;
      lock.unlock();
      std::optional<Result> result;
      std::exception_ptr trouble;
      try {
        result.emplace(make(mine));
      } catch (...) {
        trouble = std::current_exception();
      }
      lock.lock();
      if (trouble && !failure) failure = trouble;
      results[mine] = std::move(result);
      changed.notify_all();
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < std::min(static_cast<std::size_t>(jobs), count); ++i) threads.emplace_back(work);

  std::unique_lock lock(mutex);
  for (std::size_t i = 0; i < count && !failure; ++i) {
    changed.wait(lock, [&] { return results[i].has_value() || failure; });
    if (!results[i]) break;
    Result result = *std::move(results[i]);
    lock.unlock();
    std::exception_ptr trouble;
    try {
      take(i, std::move(result));
    } catch (...) {
      trouble = std::current_exception();
    }
    lock.lock();
    if (trouble && !failure) failure = trouble;
  }
  lock.unlock();
  threads.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace punt
