// punt analyze exactness: every planner on models whose truth is known.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>

#include "analyze/exactness/exactness.h"
#include "app/analyses.h"
#include "app/options.h"
#include "app/terminal.h"
#include "base/atomic_file.h"
#include "base/check.h"

namespace punt {
namespace {

struct ExactnessFlags {
  std::string out;
  bool quick = false;
  std::int64_t seeds = ExactnessOptions{}.seeds;
  std::int64_t threads = 0;
};

/// A line on the terminal that says how far a job is and how long it will take. Silent elsewhere.
class ProgressLine {
 public:
  explicit ProgressLine(std::size_t total) : total_(total), is_shown_(CanMoveCursor(stderr)) {}
  ~ProgressLine() {
    if (is_shown_) fmt::print(stderr, "\r\x1b[K");
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void Advance(const ExactnessJob& job) {
    ++done_;
    if (!is_shown_) return;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const double left = seconds / static_cast<double>(done_) * static_cast<double>(total_ - done_);
    fmt::print(stderr, "\r\x1b[K{}/{} ({:.0f} s left) {}", done_, total_, left, job.planner.substr(0, 40));
    std::fflush(stderr);
  }

 private:
  const std::size_t total_;
  const bool is_shown_;
  std::size_t done_ = 0;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::string CommandLine(const ExactnessFlags& flags) {
  return fmt::format("punt analyze exactness --out {}{}{}", flags.out, flags.quick ? " --quick" : "",
                     flags.seeds == ExactnessOptions{}.seeds ? "" : fmt::format(" --seeds {}", flags.seeds));
}

void WriteReport(const ExactnessFlags& flags, const ExactnessOptions& options, const ExactnessResults& results) {
  const auto write = [&](const char* name, const std::string& text) {
    const std::string path = (std::filesystem::path(flags.out) / name).string();
    WriteFileAtomically(path, text);
    fmt::print("{}\n", path);
  };
  write("exactness.svg", RenderSvg(TradeOffPanels(options, results),
                                   "Parallel-sampling error against forward passes, exact (hollow: too typical)"));
  write("exactness-headline.svg", RenderSvg(HeadlinePanels(options, results),
                                            "1,024 tokens: parallel-sampling error against forward passes, exact"));
  write("exactness-epsilon.svg",
        RenderSvg(EpsilonPanels(options, results), "PUNT: total variation against epsilon, exact"));
  write("exactness.md", ExactnessMarkdown(options, results, CommandLine(flags)));
}

int RunExactness(const ExactnessFlags& flags) {
  const ExactnessOptions options{.quick = flags.quick, .seeds = static_cast<int>(flags.seeds)};
  const std::vector<ExactnessJob> jobs = ExactnessJobs(options);
  std::error_code error;
  std::filesystem::create_directories(flags.out, error);
  if (error) BadInput("cannot make the folder '{}': {}", flags.out, error.message());

  const std::string path = (std::filesystem::path(flags.out) / "exactness.jsonl").string();
  ResultLog log(path, fmt::format("exactness {} quick={} seeds={}", PUNT_VERSION, flags.quick, flags.seeds));
  ExactnessResults results = log.resumed();
  if (!results.empty()) fmt::print(stderr, "punt: going on after {} of {} measurements\n", results.size(), jobs.size());
  const std::atomic<bool>& cancel = InstallInterruptHandlers();
  {
    ProgressLine progress(jobs.size() - std::min(jobs.size(), results.size()));
    RunExactnessJobs(
        jobs, ThreadCount(flags.threads), results,
        [&](const ExactnessJob& job, const Measurement& values) {
          log.Add(job.Key(), values);
          progress.Advance(job);
        },
        &cancel);
  }
  if (WasInterrupted()) {
    return SayInterrupted(fmt::format("after {} of {} measurements; the same command goes on from {}", results.size(),
                                      jobs.size(), path));
  }
  WriteReport(flags, options, results);
  std::vector<std::pair<std::string, Measurement>> ordered;
  ordered.reserve(jobs.size());
  for (const ExactnessJob& job : jobs) ordered.emplace_back(job.Key(), results.at(job.Key()));
  log.Finish(ordered);
  return 0;
}

}  // namespace

Runner AddExactness(CLI::App& command) {
  const auto flags = std::make_shared<ExactnessFlags>();
  command.add_option("--out", flags->out, "Folder for exactness.md, its pictures and exactness.jsonl")->required();
  command.add_flag("--quick", flags->quick, "Small models and coarse grids, in seconds");
  AddInteger(command, "--seeds", flags->seeds, 1, 1000, "Models and samples per configuration")
      ->default_str(fmt::format("{}", flags->seeds));
  AddThreads(command, flags->threads);
  command.footer(
      "Minutes of work. Measurements are kept in exactness.jsonl as they come; interrupted, the same command goes on\n"
      "where it stopped. If the report is finished, it is made anew.\n\n"
      "Example:\n  punt analyze exactness --out docs");
  return [flags] { return RunExactness(*flags); };
}

}  // namespace punt
