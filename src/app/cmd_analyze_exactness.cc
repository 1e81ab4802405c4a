// punt analyze exactness: every planner on models whose truth is known.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "analyze/exactness/exactness.h"
#include "app/analyses.h"
#include "app/help.h"
#include "app/options.h"
#include "app/sweep_progress.h"
#include "app/terminal.h"
#include "base/check.h"
#include "report/record_folder.h"

namespace punt {
namespace {

struct ExactnessFlags {
  std::string out;
  bool quick = false;
  std::int64_t seeds = ExactnessOptions{}.seeds;
  std::int64_t threads = 0;
};

std::string CommandLine(const ExactnessFlags& flags) {
  return fmt::format("punt analyze exactness --out {}{}{}", flags.out, flags.quick ? " --quick" : "",
                     flags.seeds == ExactnessOptions{}.seeds ? "" : fmt::format(" --seeds {}", flags.seeds));
}

void WriteReport(const ExactnessFlags& flags, const ExactnessOptions& options, const ExactnessResults& results,
                 const RecordFolder& folder) {
  const auto write = [&](const char* name, const std::string& text) {
    folder.Write(name, text);
    fmt::print("{}\n", (std::filesystem::path(flags.out) / name).string());
  };
  write("exactness.svg", RenderSvg(TradeOffPanels(options, results),
                                   "Parallel-sampling error against forward passes, exact (hollow: too typical)"));
  write("exactness-headline.svg", RenderSvg(HeadlinePanels(options, results),
                                            "1,024 tokens: parallel-sampling error against forward passes, exact"));
  write("exactness-epsilon.svg",
        RenderSvg(EpsilonPanels(options, results), "PUNT: total variation against epsilon, exact"));
  write("exactness.md", ExactnessMarkdown(options, results, CommandLine(flags)));
  write("exactness-tables.md", ExactnessTables(options, results, CommandLine(flags)));
}

/// Versions before this one kept measurements in a file of their own, until the report was finished.
void RequireNoOldLog(const std::string& out) {
  const std::filesystem::path path = std::filesystem::path(out) / "exactness.jsonl";
  std::ifstream in(path);
  std::string header;
  if (std::getline(in, header) && header.ends_with("\"finished\":false}")) {
    BadInput("'{}' holds measurements in the form of an earlier version; remove it to begin anew", path.string());
  }
}

int RunExactness(const ExactnessFlags& flags) {
  const ExactnessOptions options{.quick = flags.quick, .seeds = static_cast<int>(flags.seeds)};
  const std::vector<ExactnessJob> jobs = ExactnessJobs(options);
  RequireNoOldLog(flags.out);
  ExactnessResults results;
  RecordFolder folder(flags.out,
                      {{"analysis", "exactness"},
                       {"version", PUNT_VERSION},
                       {"quick", fmt::format("{}", flags.quick)},
                       {"seeds", fmt::format("{}", flags.seeds)}},
                      "analysis", [&](std::string_view line) { results.insert(ParseMeasurement(line)); });
  const std::atomic<bool>& cancel = InstallInterruptHandlers();
  SweepProgress progress(jobs.size(), "measurements");
  progress.Show(results.size());
  RunExactnessJobs(
      jobs, ThreadCount(flags.threads), results,
      [&](const ExactnessJob& job, const Measurement& values) {
        folder.Add(MeasurementLine(job.Key(), values));
        progress.Show(results.size());
      },
      &cancel);
  progress.Clear();
  if (WasInterrupted()) {
    return SayInterrupted(
        fmt::format("after {} of {} measurements; the same command goes on from there", results.size(), jobs.size()));
  }
  WriteReport(flags, options, results, folder);
  return 0;
}

}  // namespace

Runner AddExactness(CLI::App& command) {
  const auto flags = std::make_shared<ExactnessFlags>();
  command.add_option("--out", flags->out, "Folder of records, report and pictures")->required();
  command.add_flag("--quick", flags->quick, "Small models and coarse grids, in seconds");
  AddInteger(command, "--seeds", flags->seeds, 1, 1000, "Models and samples per configuration")
      ->default_str(fmt::format("{}", flags->seeds));
  AddThreads(command, flags->threads);
  SetGroup(command, "Measures", {"--quick", "--seeds", "--threads"});
  SetGroup(command, "Output", {"--out"});
  command.footer(
      "Minutes of work. DIR gets exactness.md, its pictures and exactness-tables.md. Measurements are kept in\n"
      "items.jsonl as they come; interrupted, the same command continues where it stopped. Run again, it makes the\n"
      "report from what it finds there.\n\n"
      "Example:\n  punt analyze exactness --out exactness");
  return [flags] { return RunExactness(*flags); };
}

}  // namespace punt
