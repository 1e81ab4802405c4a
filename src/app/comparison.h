// Planners side by side on one exact model: what they cost, and what they get for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/text_table.h"
#include "punt/model.h"
#include "punt/sampling.h"

namespace punt {

struct ComparisonOptions {
  Sampling sampling;         // its planner is ignored
  std::int64_t samples = 8;  // sequences per planner: sample numbers 0..samples-1, the same for all
  int threads = 1;           // changes only speed
};

/// Means over the samples of one planner.
struct ComparisonRow {
  std::string planner;
  std::int64_t samples = 0;
  std::int64_t unfinished = 0;  // of these, stopped by a limit with positions still open
  double nfe = 0;
  double calls = 0;  // batches of passes, each of which had to wait for the one before
  double steps = 0;
  double tokens_per_forward = 0;  // all committed tokens over all passes
  double error_nats = 0;          // per sequence: what drawing tokens in parallel cost, exactly
  double seconds = 0;             // per sequence, the error's own passes not counted
};

/// A chain whose positions are shuffled, so that spacing in the text says nothing about dependence.
inline constexpr const char* kComparisonModel = "toy:markov,length=256,vocab=8,seed=1,coupling=0.7,permute=true";

/// The planners of the demonstration; the sequential reference comes first. Each a spec.
std::vector<std::string> DefaultPlanners();

/// Splits at ';' outside parentheses, drops spaces around specs. Throws Error when a spec is empty or not a
/// valid planner, so that a long run does not fail at its end.
std::vector<std::string> ParsePlannerList(std::string_view text);

/// Runs one planner, unconditionally, on the whole length of the model. Stops early when `cancel` is set; the
/// row then holds the samples that were finished (perhaps none).
ComparisonRow Compare(const Model& model, const std::string& planner, const ComparisonOptions& options,
                      const std::atomic<bool>* cancel);

/// The table of these planners in lines of `columns`, and a line of it.
TextTable ComparisonTable(std::span<const std::string> planners, int columns);
std::string ComparisonLine(const TextTable& table, const ComparisonRow& row);

/// One object, on one line.
std::string ToJson(const ComparisonRow& row);

}  // namespace punt
