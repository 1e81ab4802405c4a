// The error of parallel sampling on a model of any kind, planner by planner (paper, Section 4.3): records of runs,
// their summary, and the report. `punt analyze error` makes the runs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/parallel_error.h"
#include "report/confidence.h"

namespace punt {

/// One generated sequence and the errors of its commits.
struct ErrorRun {
  std::string id;      // planner, score and sample: equal ids have equal results
  std::string family;  // what belongs to one curve
  std::string planner;
  std::string score;
  std::uint64_t sample = 0;
  std::int64_t base_passes = 0;
  std::int64_t test_passes = 0;
  int steps = 0;
  std::int64_t extra_passes = 0;        // of the measurement; in no NFE
  std::vector<TokenError> tokens = {};  // every commit

  std::int64_t nfe() const { return base_passes + test_passes; }
};

/// A line of JSON; infinite errors are null.
std::string ErrorRunLine(const ErrorRun& run);
/// Throws Error on a line that is not such a record.
ErrorRun ParseErrorRun(std::string_view line);

/// Errors in one direction, in nats. Infinite ones are counted and left out of the means, never out of the quantiles.
struct ErrorFigures {
  Estimate per_token;             // mean over all commits; runs are the sampling unit of the interval
  double per_parallel_token = 0;  // mean over the commits with others before them in their step
  double per_sequence = 0;
  double q05 = 0, median = 0, q95 = 0, most = 0;  // over the same commits; 0 if there are none
  std::int64_t infinite = 0;
};

/// Tokens with about the same number of others revealed before them in their step. delta_KL.
struct RevealedBin {
  int low = 1, high = 1;  // the range of revealed_before, both ends included
  std::int64_t tokens = 0;
  double centre = 0;  // mean of revealed_before
  double q05 = 0, median = 0, q95 = 0;
};

/// All runs of one planner.
struct ErrorSummary {
  std::string family;
  std::string planner;
  std::string score;
  std::int64_t runs = 0;
  Estimate nfe;
  double steps = 0;  // mean
  std::int64_t tokens = 0;
  std::int64_t parallel_tokens = 0;  // with others before them in their step
  std::int64_t extra_passes = 0;
  ErrorFigures new_base;  // delta_KL, the paper's direction
  ErrorFigures base_new;
  std::optional<double> epsilon;        // of a PUNT planner
  std::optional<double> above_epsilon;  // share of parallel tokens whose delta_KL exceeds it
  std::vector<RevealedBin> by_revealed;
};

/// Planners in the order of their first runs. Throws std::logic_error when there are no runs.
std::vector<ErrorSummary> SummariseErrors(std::span<const ErrorRun> runs);

/// The range of revealed_before that a value falls into: single values first, then ranges that grow with it.
struct RevealedRange {
  int low = 1, high = 1;
};
RevealedRange RevealedRangeOf(int revealed_before);

/// The error per token that a family reaches with `nfe` passes, interpolated linearly between its settings in the
/// logarithm of NFE; nothing below its cheapest setting or beyond its most expensive one.
std::optional<double> ErrorAtNfe(std::span<const ErrorSummary> all, std::string_view family, double nfe);

/// What a report says in addition to the numbers.
struct ErrorReport {
  std::string model;
  std::string sampling;  // a line on temperature, seed and the like
  std::string command;
  std::vector<ErrorSummary> rows;
};

/// planner,sample,step,position,revealed_before,kl_new_base,kl_base_new; infinity is "inf".
std::string ErrorCsv(std::span<const ErrorRun> runs);
std::string ErrorJson(const ErrorReport& report, int indent);
std::string ErrorMarkdown(const ErrorReport& report);
/// Mean error against NFE, a line per family.
std::string ErrorNfeSvg(const ErrorReport& report);
/// Median and Q5..Q95 by tokens revealed before; PUNT's planners, or all of them. Empty when none has such tokens.
std::string ErrorRevealedSvg(const ErrorReport& report, bool every_planner);

}  // namespace punt
