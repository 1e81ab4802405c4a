// What rows say of a text whose tokens are revealed in a given order.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "punt/denoiser.h"
#include "punt/likelihood.h"
#include "punt/trace.h"

namespace punt {

/// Whose order it is. See LikelihoodOptions.
struct PlannedOrder {
  std::string planner;
  std::string score;
  std::uint64_t seed = 0;
  std::uint64_t sample = 0;
  const std::atomic<bool>* cancel = nullptr;
};

/// ln p of each position's token in the step in which the planner commits it, when the text's own tokens are what is
/// proposed. Nothing when it was cancelled. Throws Error on planners that take tokens back.
std::optional<std::vector<double>> LogProbsAlongPlanner(DenoiserSession& session, const LikelihoodText& text,
                                                        const PlannedOrder& order);

/// From left to right, with one pass for each of the last `alone` positions; those before them share passes, in
/// stretches that double in length from there to the left: at most `alone` + log2(n) passes in all. Positions of a
/// stretch do not see each other, so the sum is the log-probability of the text under left-to-right decoding in those
/// steps.
struct LeftToRight {
  int alone = -1;  // -1: all
  int top = 0;     // how many of the most probable tokens are reported
  int passes_at_once = 16;
  const std::atomic<bool>* cancel = nullptr;
};

/// How many passes that takes for `count` positions.
std::int64_t LeftToRightPasses(std::size_t count, int alone);

/// A row per position, whose step counts the passes. Nothing when it was cancelled.
std::optional<std::vector<CommitRow>> RowsLeftToRight(DenoiserSession& session, const LikelihoodText& text,
                                                      const LeftToRight& options);

}  // namespace punt
