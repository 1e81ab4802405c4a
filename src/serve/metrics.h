// Counters and distributions of a server, in the text format of Prometheus.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "punt/types.h"

namespace punt {

/// A distribution by upper bounds.
class Histogram {
 public:
  explicit Histogram(std::vector<double> bounds) : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}
  void Add(double value);
  /// Lines of the format, without the type.
  std::string Text(const std::string& name) const;

 private:
  std::vector<double> bounds_;
  mutable std::mutex mutex_;
  std::vector<std::int64_t> counts_;  // the last one: above all bounds
  double sum_ = 0;
};

/// Safe to use from any thread.
class Metrics {
 public:
  /// How things stand, from the scheduler and the model.
  struct Load {
    int running = 0;
    int waiting = 0;
    BlockCacheStats blocks = {};
  };

  void CountRequest(const std::string& path, int status);
  std::string Text(const Load& load) const;
  std::int64_t requests() const;

  std::atomic<std::int64_t> base_passes = 0;
  std::atomic<std::int64_t> test_passes = 0;
  std::atomic<std::int64_t> steps = 0;
  std::atomic<std::int64_t> prompt_tokens = 0;
  std::atomic<std::int64_t> committed_tokens = 0;
  std::atomic<std::int64_t> tested = 0;  // positions that a test looked at
  std::atomic<std::int64_t> kept = 0;    // of those, found independent
  std::atomic<std::int64_t> cancelled = 0;
  std::atomic<std::int64_t> refused_connections = 0;  // closed without an answer
  Histogram forward_seconds{{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10}};  // a batch each
  Histogram batch_sequences{{1, 2, 4, 8, 16, 32, 64, 128, 256}};
  Histogram divergences{{1e-4, 1e-3, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 5}};
  Histogram first_text_seconds{{0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60}};
  Histogram request_seconds{{0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300}};

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::int64_t> requests_;
};

}  // namespace punt
