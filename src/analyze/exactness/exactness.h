// The exactness report: how far the output of every planner is from the truth, on models whose truth is known.
// `punt analyze exactness` runs the jobs and writes the report; these are its parts.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/measurement.h"
#include "report/svg_plot.h"

namespace punt {

struct ExactnessOptions {
  bool quick = false;  // small models and coarse grids: seconds instead of minutes, for tests
  int seeds = 3;       // models and samples per configuration of the trade-off
};

/// One measurement, with everything that decides its result.
///   law   the law of the output by enumeration (analyze/law.h):  tv, kl, total, nfe, calls, steps, error
///   run   one generated sequence and its parallel-sampling error:  nfe, calls, steps, error, error_base_new, surprise
struct ExactnessJob {
  enum class Kind { kLaw, kRun };
  Kind kind = Kind::kLaw;
  std::string section;  // the table it belongs to
  std::string family;   // the planner as the picture's legend has it
  std::string column;   // law: which model family
  std::string model;    // spec
  std::string planner;  // spec
  std::string score;    // spec
  std::uint64_t seed = 0;

  /// Names the measurement in the log: equal keys have equal results.
  std::string Key() const;
};

/// The sections of the report, in order.
inline constexpr std::string_view kLawSection = "law";
inline constexpr std::string_view kOtherLawSection = "law, others";
inline constexpr std::string_view kEpsilonSection = "epsilon";

/// All jobs, in the order of the report. Throws Error on options out of range.
std::vector<ExactnessJob> ExactnessJobs(const ExactnessOptions& options);

/// Jobs of the trade-off have one of these as their section.
struct TradeOffSetting {
  std::string name;   // "chain, L = 256, permuted"
  std::string model;  // spec without its seed
  int length = 0;
};
std::vector<TradeOffSetting> TradeOffSettings(const ExactnessOptions& options);

Measurement RunExactnessJob(const ExactnessJob& job);

using ExactnessResults = std::map<std::string, Measurement>;  // by key

/// Runs what `results` does not hold yet, on `threads` threads. `done` is called after each job, one call at a time.
/// Stops early, without error, when `cancel` becomes true. Rethrows the first failure.
void RunExactnessJobs(std::span<const ExactnessJob> jobs, int threads, ExactnessResults& results,
                      const std::function<void(const ExactnessJob&, const Measurement&)>& done,
                      const std::atomic<bool>* cancel = nullptr);

/// The report. `command` is the command that made it. Results of all jobs must be there.
std::string ExactnessMarkdown(const ExactnessOptions& options, const ExactnessResults& results,
                              std::string_view command);

/// The tables that stand beside it: every configuration of every setting of the trade-off.
std::string ExactnessTables(const ExactnessOptions& options, const ExactnessResults& results, std::string_view command);

/// The report's part about error and cost.
std::string TradeOffSection(const ExactnessOptions& options, const ExactnessResults& results);

/// Error against NFE, one panel per setting of the trade-off. Hollow: too typical (exactness_table.h).
std::vector<PlotPanel> TradeOffPanels(const ExactnessOptions& options, const ExactnessResults& results);

/// The same for the README: the long permuted models, and the planners that most people know.
std::vector<PlotPanel> HeadlinePanels(const ExactnessOptions& options, const ExactnessResults& results);

/// Total variation against epsilon on random joints.
std::vector<PlotPanel> EpsilonPanels(const ExactnessOptions& options, const ExactnessResults& results);

}  // namespace punt
