// punt compare: a table of planners, row by row as they finish.
#include <fmt/format.h>

#include <memory>

#include "app/bench_table.h"
#include "app/command.h"
#include "app/comparison.h"
#include "app/interruptible.h"
#include "app/options.h"
#include "app/sampling_flags.h"
#include "app/terminal.h"
#include "base/check.h"

namespace punt {
namespace {

struct CompareFlags {
  std::string model = kComparisonModel;
  std::string planners;
  Sampling sampling;
  std::int64_t samples = 8;
  std::int64_t threads = 1;
  bool json = false;
  CLI::Option* planners_option = nullptr;
};

/// A note on the terminal that disappears when the row is printed.
void ShowProgress(const std::string& planner) {
  if (CanMoveCursor(stderr)) fmt::print(stderr, "running {} ...\r", planner.substr(0, 60));
}

void ClearProgress() {
  if (CanMoveCursor(stderr)) fmt::print(stderr, "\x1b[K");
}

int Run(const CompareFlags& flags) {
  const Model model = OpenInterruptibly(flags.model);
  const std::vector<std::string> planners =
      flags.planners_option->count() > 0 ? ParsePlannerList(flags.planners) : DefaultPlanners();
  const ComparisonOptions options{
      .sampling = flags.sampling, .samples = flags.samples, .threads = ThreadCount(flags.threads)};
  const std::atomic<bool>& cancel = InstallInterruptHandlers();
  const int width = PlannerWidth(planners, TableWidth());
  if (!flags.json) {
    fmt::print("{}\nMeans of {} samples; error in nats per sequence, exact.\n{}\n", model.name, flags.samples,
               TableHeader(width));
  }
  FlushOutput();
  int printed = 0;
  for (const std::string& planner : planners) {
    ShowProgress(planner);
    const ComparisonRow row = Compare(model, planner, options, &cancel);
    ClearProgress();
    if (WasInterrupted()) break;
    if (flags.json) {
      fmt::print("{}{}", printed == 0 ? "[" : ",\n ", ToJson(row));
    } else {
      fmt::print("{}\n", TableRow(row, width));
    }
    ++printed;
    FlushOutput();
  }
  if (flags.json) fmt::print("{}]\n", printed == 0 ? "[" : "");
  if (printed == std::ssize(planners)) return 0;
  return SayInterrupted(fmt::format("after {} of {} planners", printed, planners.size()));
}

}  // namespace

Runner AddCompare(CLI::App& command) {
  const auto flags = std::make_shared<CompareFlags>();
  command.add_option("-m,--model", flags->model, "An exact toy model (see punt list models)")->capture_default_str();
  flags->planners_option = command.add_option("--planners", flags->planners, "SPEC;SPEC;... (see punt list planners)");
  AddSampling(command, flags->sampling, kWithoutPlanner);
  AddInteger(command, "--samples", flags->samples, 1, 1'000'000, "Sequences per planner")->default_str("8");
  AddThreads(command, flags->threads);
  command.add_flag("--json", flags->json, "Print a JSON array");
  command.footer(
      "NFE counts every forward pass, test passes included; calls are the batches of passes that had to wait for one\n"
      "another. The error is the sum over tokens of KL(p(.|x, tokens committed before it in its step) || p(.|x)):\n"
      "what is lost by drawing them at once. It is exact, because the model is. Which tokens a planner prefers "
      "matters\n"
      "as much as how many it takes: try --score random beside the model's default.\n\n"
      "Examples:\n  punt compare\n"
      "  punt compare --model toy:tree,length=128 --planners \"punt:epsilon=0.01; top-k:k=2\" --samples 20");
  return [flags] { return Run(*flags); };
}

}  // namespace punt
