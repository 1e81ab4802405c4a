#include "app/bench_flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/help.h"
#include "app/options.h"
#include "base/check.h"
#include "tasks/tasks.h"

namespace punt {
namespace {

constexpr std::int64_t kMostProcesses = 256;

void RequireOne(bool has_first, bool has_second, const char* names) {
  if (has_first && has_second) BadInput("{} exclude each other", names);
}

}  // namespace

void BenchFlags::AddTo(CLI::App& app) {
  command_ = &app;
  eval.AddTo(app, false);
  app.get_option("task")->required(false);  // a dry run of a preset needs none
  grid.AddTo(app);
  app.add_option("--temperatures", temperatures, "Several temperatures, each a row: 0.1,0.7");
  app.add_option("--seeds", seeds, "Several seeds, pooled into one row: 1,2,3 or 1-3");
  AddInteger(app, "--processes", processes, 1, kMostProcesses, "Processes that share the work and --threads")
      ->default_str("1");
  app.add_option("--reference", eval.reference,
                 "Folder of a run (DIR/PLANNER of an earlier bench, or of punt eval) one by one at temperature 1, from "
                 "another seed: how far the law of stories or proteins is from its law");
  app.add_flag("--dry-run", dry_run, "Print what would be run; needs no model");
  app.add_option("--out", out, "Folder of tables, picture, report and records");
  app.add_flag("--json", json, "Print a JSON array");
  AddInteger(app, kWorkerOption, worker_threads, 1, 1024, "")->group("");
  SetGroup(app, "Planners", {"--temperatures", "--seeds"});
  SetGroup(app, "Task", {"--reference"}, kInFullHelp);
  SetGroup(app, "Output", {"--out", "--json", "--dry-run", "--processes"});
}

bool BenchFlags::IsGiven(std::string_view setting) const {
  if (setting == "temperature" && Given("--temperatures")) return true;
  std::string option = fmt::format("--{}", setting);
  std::replace(option.begin(), option.end(), '_', '-');
  return Given(option);
}

SweepPlan BenchFlags::Plan() const {
  RequireOne(Given("--temperature"), Given("--temperatures"), "--temperature and --temperatures");
  RequireOne(Given("--seed"), Given("--seeds"), "--seed and --seeds");
  if (eval.task.empty() && !dry_run) BadInput("task is required (see punt bench --help)");
  if (!eval.task.empty()) CanonicalTaskSpec(eval.task);
  SweepPlan plan{.eval = eval, .out = out, .processes = static_cast<int>(processes)};
  plan.axes = {.temperatures = {eval.sampling.temperature}, .seeds = {eval.sampling.seed}};
  const std::vector<GridEntry> entries = grid.Chosen(!eval.sampling.score.empty());
  const std::optional<double> usual = eval.task.empty() ? std::nullopt : UsualTemperature(eval.task);
  if (usual && !Given("--temperature")) plan.axes.temperatures = {*usual};
  const auto is_given = [&](std::string_view setting) { return IsGiven(setting); };
  if (Given("--preset")) plan.TakeOver(FindGrid(grid.preset), is_given);
  if (Given("--temperatures")) {
    plan.axes.temperatures = ParseTemperatures(temperatures, "--temperatures");
    plan.axes.names_temperature = true;
  }
  if (Given("--seeds")) {
    plan.axes.seeds = ParseSeeds(seeds, "--seeds");
    plan.axes.names_seed = true;
  }
  plan.points = SweepPoints(entries, plan.axes);
  plan.eval.sampling.seed = plan.axes.seeds.front();
  plan.eval.sampling.temperature = plan.axes.temperatures.front();
  if (worker_threads > 0) plan.eval.model.threads = worker_threads;
  return plan;
}

}  // namespace punt
