#include "app/eval_setup.h"

#include <fmt/format.h>

#include <filesystem>
#include <limits>

#include "app/help.h"
#include "app/hub_pull.h"
#include "app/interruptible.h"
#include "app/sampling_flags.h"
#include "app/terminal.h"
#include "base/check.h"
#include "model/bundled_models.h"
#include "tasks/tasks.h"

namespace punt {
namespace {

constexpr std::int64_t kMostItems = 1'000'000;

}  // namespace

std::string ModelOf(const Evaluation& evaluation) {
  if (!evaluation.model.name.empty()) return evaluation.model.name;
  const TaskRow& row = FindTask(evaluation.task);
  const std::string bundled(row.bundled_model);
  if (bundled.empty()) BadInput("--model is missing: task {} needs a model of {}", row.name, row.model_kind);
  if (!std::filesystem::exists(LocateModel(bundled))) {
    BadInput("--model is missing: task {} needs a model of {}, and the bundled {} is not there", row.name,
             row.model_kind, bundled);
  }
  return bundled;
}

void EvalFlags::AddTo(CLI::App& command, bool has_planner) {
  constexpr std::int64_t kInt = std::numeric_limits<int>::max();
  command.add_option("task", task, "name or name:key=value,... (see punt list tasks)")->required();
  AddInteger(command, "--limit", limit, 1, kMostItems, "Number of items; default: the task's");
  AddInteger(command, "-n,--length", length, 1, kInt, "Positions to generate; default: the task's");
  command.add_option("--data", data, "The task's data file (see punt list tasks)");
  command.add_option("--shots", shots, "Worked examples for prompts, in the format of the task's data");
  command.add_option("--judge", judge, "Autoregressive GGUF model that judges texts; default: the bundled one");
  command.add_flag(
      "--constrained", constrained,
      "Hold answers to what the task knows of right ones: each row of a sudoku or a latin square is one of "
      "the permutations that agree with the givens");
  SetGroup(command, "Task", {"--limit", "--length", "--data"});
  SetGroup(command, "Task", {"--shots", "--judge", "--constrained"}, kInFullHelp);
  AddModel(command, model, fmt::format("{}; default: the bundled one, where the task has one", kAnyModel));
  AddSampling(command, sampling, has_planner ? std::span<const std::string_view>() : kWithoutPlanner);
}

EvalSetup OpenEval(const Evaluation& evaluation, const OpenOptions& options) {
  EvalSetup setup{.judge = JudgeOf(evaluation)};
  PullIfMissing(setup.judge);
  if (evaluation.model.name.empty() && setup.judge.empty() && FindTask(evaluation.task).takes_judge) {
    BadInput("--reference needs --judge: its samples are what is judged");
  }
  if (!evaluation.model.name.empty()) {
    ModelFlags how = evaluation.model;
    how.no_repack = how.no_repack || !options.generates;
    // The processes of a sweep end with it, without a message.
    setup.model = options.warns ? OpenInterruptibly(how.name, how.Options()) : OpenModel(how.name, how.Options());
    if (options.warns) WarnOf(how, *setup.model);
  }
  Complete(setup, evaluation);
  return setup;
}

}  // namespace punt
