#include "app/dry_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "app/terminal.h"
#include "app/text_table.h"
#include "base/json_text.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;

/// A task of the dry run: how often it is run and on how much.
struct DryTask {
  std::string name;
  std::string shots;
  std::string length;
  std::size_t runs = 0;
  std::optional<std::size_t> items;  // per run, where that is known without opening the task
};

std::string LengthText(std::int64_t length) { return length == 0 ? "the task's" : fmt::format("{}", length); }

std::vector<DryTask> TasksOf(const SweepPlan& plan) {
  if (!plan.eval.task.empty()) {
    DryTask task{.name = plan.eval.task, .length = LengthText(plan.eval.length), .runs = plan.points.size()};
    if (plan.eval.limit > 0) task.items = static_cast<std::size_t>(plan.eval.limit);
    return {task};
  }
  std::vector<DryTask> tasks;
  if (plan.preset == nullptr) return tasks;
  for (const GridTask& row : plan.preset->sampling().tasks) {
    const std::size_t temperatures = plan.axes.temperatures.size();
    tasks.push_back({.name = std::string(row.name),
                     .shots = row.shots == 0 ? "" : fmt::format("{}", row.shots),
                     .length = LengthText(row.length),
                     .runs = row.only_hot ? plan.points.size() / temperatures : plan.points.size(),
                     .items = row.items});
  }
  return tasks;
}

/// In the order of the plan, each once.
std::vector<std::string> PlannersOf(const SweepPlan& plan) {
  std::vector<std::string> planners;
  const std::size_t per_temperature = plan.points.size() / plan.axes.temperatures.size();
  for (std::size_t i = 0; i < per_temperature; i += plan.axes.seeds.size()) {
    const GridEntry& entry = plan.points[i].entry;
    planners.push_back(entry.score.empty() ? entry.planner : fmt::format("{} by {}", entry.planner, entry.score));
  }
  return planners;
}

std::string ScoreText(const SweepPlan& plan) {
  if (!plan.eval.sampling.score.empty()) return plan.eval.sampling.score;
  if (plan.preset == nullptr || plan.preset->score("llada").empty()) return "the model's own";
  return fmt::format("{} (dream: {})", plan.preset->score("llada"), plan.preset->score("dream"));
}

Json ToJson(const SweepPlan& plan, const std::vector<DryTask>& tasks) {
  Json object = {{"planners", PlannersOf(plan)},  {"temperatures", plan.axes.temperatures},
                 {"seeds", plan.axes.seeds},      {"top_p", plan.eval.sampling.top_p},
                 {"eos", plan.eval.sampling.eos}, {"score", ScoreText(plan)},
                 {"tasks", Json::array()}};
  for (const DryTask& task : tasks) {
    object["tasks"].push_back({{"task", task.name},
                               {"runs", task.runs},
                               {"items", task.items ? Json(*task.items) : Json(nullptr)},
                               {"generations", task.items ? Json(task.runs * *task.items) : Json(nullptr)}});
  }
  if (plan.preset != nullptr) object["open"] = plan.preset->sampling().open;
  return object;
}

}  // namespace

std::string DryRun(const SweepPlan& plan, bool as_json) {
  const std::vector<DryTask> tasks = TasksOf(plan);
  if (as_json) return Dump(ToJson(plan, tasks), 2) + "\n";
  const std::vector<std::string> planners = PlannersOf(plan);
  std::string text = fmt::format("planners     {}\n", planners.size());
  for (const std::string& planner : planners) text += fmt::format("             {}\n", planner);
  text += fmt::format("temperature  {}\nseed         {}\nnucleus      {}\neos          {}\nscore        {}\n",
                      fmt::join(plan.axes.temperatures, ", "), fmt::join(plan.axes.seeds, ", "),
                      plan.eval.sampling.top_p, plan.eval.sampling.eos, ScoreText(plan));
  std::vector<std::string> names;
  for (const DryTask& task : tasks) names.push_back(task.name);
  const TextTable table("task", names, {{"shots", 5}, {"length", 10}, {"runs", 6}, {"items", 7}, {"generations", 12}},
                        OutputColumns());
  text += fmt::format("\n{}\n", table.Head());
  for (const DryTask& task : tasks) {
    text += table.Row(task.name, {task.shots, task.length, fmt::format("{}", task.runs),
                                  task.items ? fmt::format("{}", *task.items) : "usual",
                                  task.items ? fmt::format("{}", task.runs * *task.items) : ""});
    text += "\n";
  }
  if (tasks.empty()) text += "none named\n";
  if (plan.preset == nullptr || plan.preset->sampling().open.empty()) return text;
  text += "\nLeft open by the source of the preset:\n";
  for (const std::string& sentence : plan.preset->sampling().open) text += fmt::format("- {}\n", sentence);
  return text;
}

}  // namespace punt
