// What attention and the states of a network do when tokens are revealed in parallel (paper, appendix on independence
// stability). For the i-th committed token r_i of a step, in confidence order:
//
//   delta_A              attention from r_i to the tokens before it in its step, in the last layer, head by head
//   difference of a, b   |a - b| / |a|, of a layer's output, queries, keys and values at r_i; a is computed with these
//                        tokens masked, b with them revealed
//
// together with delta_KL, the error of r_i (parallel_error.h). Networks only. In an architecture with a shift, r_i is
// represented by the column that predicts it, the one before.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/parallel_error.h"
#include "punt/denoiser.h"

namespace punt {

enum class StateKind { kOutput, kQueries, kKeys, kValues };
inline constexpr std::array<std::string_view, 4> kStateNames = {"output", "queries", "keys", "values"};
using StateDifferences = std::array<double, 4>;  // by StateKind

/// A commit with others before it in its step.
struct AttendedToken {
  TokenError error;
  std::vector<double> delta_a;           // by head, with the tokens before it revealed
  double delta_a_masked = 0;             // mean over heads, while they are masked
  std::vector<StateDifferences> layers;  // first layer first

  double mean_delta_a() const;
};

/// Measures the steps of a run; those that commit one token give nothing. Throws Error unless the denoiser is a
/// network. `options` must ban the tokens that the run's session banned.
std::vector<AttendedToken> MeasureAttention(const Denoiser& denoiser, std::span<const CommittedStep> steps,
                                            const SessionOptions& options);

struct AttentionRun {
  std::string id;
  std::string planner;
  std::uint64_t sample = 0;
  std::int64_t nfe = 0;
  std::vector<AttendedToken> tokens = {};
};

/// A line of JSON, and back; throws Error on a line that is not such a record.
std::string AttentionRunLine(const AttentionRun& run);
AttentionRun ParseAttentionRun(std::string_view line);

/// Q5, median, Q95.
struct Spread {
  double low = 0, middle = 0, high = 0;
};

struct AttentionSummary {
  std::string planner;
  std::int64_t runs = 0;
  double nfe = 0;
  std::int64_t tokens = 0;  // with others before them
  Spread error;             // delta_KL
  Spread delta_a;           // mean over heads
  Spread delta_a_masked;
  std::optional<double> correlation;  // rank correlation of delta_KL with the mean over heads
  std::vector<std::optional<double>> head_correlation;
  std::vector<double> head_median;               // of delta_A
  std::vector<std::array<Spread, 4>> layers;     // by StateKind
  std::vector<std::pair<double, double>> pairs;  // (delta_A, delta_KL), for the picture
};

/// Planners in the order of their first runs.
std::vector<AttentionSummary> SummariseAttention(std::span<const AttentionRun> runs);

struct AttentionReport {
  std::string model;
  std::string sampling;
  std::string command;
  std::vector<AttentionSummary> rows;
};

/// planner,sample,step,position,revealed_before,kl_new_base,delta_a,delta_a_masked,head_0,...
std::string AttentionCsv(std::span<const AttentionRun> runs);
/// planner,sample,step,position,layer,output,queries,keys,values
std::string StatesCsv(std::span<const AttentionRun> runs);
std::string AttentionJson(const AttentionReport& report, int indent);
std::string AttentionMarkdown(const AttentionReport& report);
/// delta_KL against delta_A, a panel per planner.
std::string AttentionSvg(const AttentionReport& report);
/// Normalised differences by layer, a panel per planner. Both throw Error when no planner committed in parallel.
std::string StatesSvg(const AttentionReport& report);

}  // namespace punt
