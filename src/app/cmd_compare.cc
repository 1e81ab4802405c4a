// punt compare: a table of planners, row by row as they finish.
#include <fmt/format.h>

#include <memory>

#include "app/command.h"
#include "app/comparison.h"
#include "app/grid_flags.h"
#include "app/help.h"
#include "app/model_flags.h"
#include "app/options.h"
#include "app/sampling_flags.h"
#include "app/sweep_progress.h"
#include "app/terminal.h"
#include "base/check.h"
#include "eval/run.h"
#include "generate/misfit_list.h"

namespace punt {
namespace {

struct CompareFlags {
  ModelFlags model{.name = kComparisonModel, .threads = 1};
  GridFlags grid;
  Sampling sampling;
  std::int64_t samples = 8;
  bool json = false;
};

/// Throws Error naming the planners that the model cannot run.
void RequireFit(const Model& model, const std::vector<std::string>& planners, Sampling sampling) {
  const DenoiserInfo& info = model.denoiser->info();
  const std::vector<Token> masks(static_cast<std::size_t>(info.max_length), info.mask_token);
  const Canvas canvas(masks, info.mask_token, info.vocab_size);
  MisfitList misfits;
  for (const std::string& planner : planners) {
    sampling.planner = planner;
    misfits.Look(planner, MakeRecipe(sampling, info), canvas, model);
  }
  misfits.RequireNone();
}

int Run(const CompareFlags& flags) {
  const Model model = OpenAndWarn(flags.model);
  const std::vector<std::string> planners =
      flags.grid.planners_option->count() > 0 ? ParsePlannerList(flags.grid.planners) : DefaultPlanners();
  const ComparisonOptions options{
      .sampling = flags.sampling, .samples = flags.samples, .threads = ThreadCount(flags.model.threads)};
  RequireFit(model, planners, flags.sampling);
  const std::atomic<bool>& cancel = InstallInterruptHandlers();
  const TextTable table = ComparisonTable(planners, OutputColumns());
  if (!flags.json) {
    fmt::print("{}\nMeans of {} samples; error in nats per sequence, exact.\n{}\n", model.name, flags.samples,
               table.Head());
  }
  FlushOutput();
  SweepProgress progress(planners.size(), "planners");
  int printed = 0;
  for (const std::string& planner : planners) {
    progress.Show(static_cast<std::size_t>(printed));
    const ComparisonRow row = Compare(model, planner, options, &cancel);
    progress.Clear();
    if (WasInterrupted()) break;
    if (flags.json) {
      fmt::print("{}{}", printed == 0 ? "[" : ",\n ", ToJson(row));
    } else {
      fmt::print("{}\n", ComparisonLine(table, row));
    }
    ++printed;
    FlushOutput();
    const std::string note =
        UnfinishedNote(static_cast<std::size_t>(row.unfinished), static_cast<std::size_t>(row.samples));
    if (!note.empty()) fmt::print(stderr, "punt: note: {}: {}\n", planner, note);
  }
  if (flags.json) fmt::print("{}]\n", printed == 0 ? "[" : "");
  if (printed == std::ssize(planners)) return 0;
  return SayInterrupted(fmt::format("after {} of {} planners", printed, planners.size()));
}

}  // namespace

Runner AddCompare(CLI::App& command) {
  const auto flags = std::make_shared<CompareFlags>();
  flags->grid.AddPlanners(command);
  AddInteger(command, "--samples", flags->samples, 1, 1'000'000, "Sequences per planner")->default_str("8");
  SetGroup(command, "Text", {"--samples"});
  AddModel(command, flags->model, "An exact toy model (see punt list models)");
  AddSampling(command, flags->sampling, kWithoutPlanner);
  command.add_flag("--json", flags->json, "Print a JSON array");
  SetGroup(command, "Output", {"--json"});
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
