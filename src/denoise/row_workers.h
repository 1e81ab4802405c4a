// Threads for the rows of read requests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/row_kernels.h"

namespace punt {

/// Used by one caller at a time. Work too small to pay for waking a thread stays with the caller.
class RowWorkers {
 public:
  /// `team` must outlive them.
  RowWorkers(ThreadPool& team, std::size_t vocab)
      : team_(team), vocab_(vocab), scratch_(static_cast<std::size_t>(team.size())) {}

  int threads() const { return team_.size(); }

  /// body(begin, end, worker) on disjoint ranges of [0, count); `numbers` is the size of all work.
  void For(std::size_t count, std::size_t numbers, const ThreadPool::Body& body) {
    if (numbers < 2 * kNumbersPerThread) {
      body(0, count, 0);
    } else {
      team_.For(count, body);
    }
  }

  /// body(row, scratch) for row in [0, count).
  template <typename RowBody>
  void ForRows(std::size_t count, const RowBody& body) {
    For(count, count * vocab_, [&](std::size_t begin, std::size_t end, int worker) {
      for (std::size_t row = begin; row < end; ++row) body(row, scratch_[static_cast<std::size_t>(worker)]);
    });
  }

  /// body(request, index in its rows, scratch) for all rows of all requests.
  template <typename Request, typename RowBody>
  void ForRows(std::span<const Request> requests, const RowBody& body) {
    std::vector<std::size_t> begins = {0};  // of each request in the sequence of all rows
    for (const Request& request : requests) begins.push_back(begins.back() + request.rows.size());
    const std::size_t count = begins.back();
    For(count, count * vocab_, [&](std::size_t begin, std::size_t end, int worker) {
      RowScratch& scratch = scratch_[static_cast<std::size_t>(worker)];
      auto request = static_cast<std::size_t>(std::upper_bound(begins.begin(), begins.end(), begin) - begins.begin());
      for (std::size_t row = begin; row < end; ++row) {
        while (row >= begins[request]) ++request;
        body(requests[request - 1], row - begins[request - 1], scratch);
      }
    });
  }

 private:
  static constexpr std::size_t kNumbersPerThread = 8192;  // of rows; with fewer a thread costs more than it gains

  ThreadPool& team_;
  std::size_t vocab_;
  std::vector<RowScratch> scratch_;  // one per worker
};

}  // namespace punt
