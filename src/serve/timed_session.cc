#include "serve/timed_session.h"

#include <chrono>

namespace punt {

TimedSession::TimedSession(std::unique_ptr<DenoiserSession> inner, Metrics& metrics)
    : DenoiserSession(inner->info()), inner_(std::move(inner)), metrics_(metrics) {}

std::vector<PassRef> TimedSession::DoForward(std::span<const Query> queries) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<PassRef> passes = inner_->Forward(queries);
  metrics_.forward_seconds.Add(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  metrics_.batch_sequences.Add(static_cast<double>(queries.size()));
  return passes;
}

}  // namespace punt
