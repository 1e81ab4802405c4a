// The sweep is the library's (tasks/sweep_records.h), so that a folder can be begun here and finished by the command,
// or the other way round. Items run on the calling thread without the interpreter's lock; Ctrl-C is raised between
// passes, leaves through the engine, and finds every finished item in the folder.
#include "bench.h"

#include <nanobind/stl/string.h>

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "convert.h"
#include "engine.h"
#include "eval/bench.h"
#include "signals.h"
#include "tasks/sweep_records.h"
#include "tasks/sweep_report.h"
#include "tasks/tasks.h"

namespace punt::py {
namespace {

constexpr std::size_t kMostItems = 1'000'000;

/// Python's progress callback; called without the lock.
using Tell = std::function<void(std::size_t done, std::size_t all)>;

std::int64_t CountOf(nb::handle value, const char* what, std::int64_t most) {
  std::int64_t count = 0;
  if (PyBool_Check(value.ptr()) || !nb::try_cast(value, count, false)) {
    BadInput("{} must be a whole number, got {}", what, KindOf(value));
  }
  if (count < 1 || count > most) BadInput("{} must be from 1 to {}, got {}", what, most, count);
  return count;
}

std::string TextOf(nb::handle value, const char* what) {
  if (!PyUnicode_Check(value.ptr())) BadInput("{} must be a string, got {}", what, KindOf(value));
  return nb::cast<std::string>(value);
}

template <typename T>
std::vector<T> ListOf(nb::handle value, const char* what, const char* kind) {
  std::vector<T> list;
  for (nb::handle item : value) {
    T number{};
    if (PyBool_Check(item.ptr()) || !nb::try_cast(item, number, true)) {
      BadInput("{} must be a list of {}, got {}", what, kind, KindOf(item));
    }
    for (const T& other : list) {
      if (other == number) BadInput("{} has {} twice", what, number);
    }
    list.push_back(number);
  }
  if (list.empty()) BadInput("{} is empty", what);
  return list;
}

std::vector<std::string> PlannersOf(nb::handle value) {
  std::vector<std::string> planners;
  for (nb::handle item : value) {
    if (!PyUnicode_Check(item.ptr())) {
      BadInput("planners are named: {} is no string; punt.register_planner gives a class a name", KindOf(item));
    }
    planners.push_back(nb::cast<std::string>(item));
    CanonicalPlannerSpec(planners.back());
  }
  if (planners.empty()) BadInput("planners is empty");
  return planners;
}

/// What the arguments ask for. `ask` has what was given, by the names of punt.bench; `sampling` its keywords.
SweepPlan PlanOf(const ModelChoice& model, nb::dict ask, nb::dict sampling) {
  const Settings settings = SettingsOf(sampling);
  if (settings.planner) BadInput("planner: a bench has planners, a list of names");
  SweepPlan plan;
  Evaluation& eval = plan.eval;
  eval.model = model;
  eval.sampling = settings.sampling;
  std::vector<GridEntry> grid;
  std::optional<std::string> preset;
  std::optional<std::vector<double>> temperatures;
  for (auto [key, value] : ask) {
    const auto name = nb::cast<std::string>(key);
    if (name == "task") eval.task = TextOf(value, "task");
    if (name == "data") eval.data = TextOf(value, "data");
    if (name == "shots") eval.shots = TextOf(value, "shots");
    if (name == "judge") eval.judge = TextOf(value, "judge");
    if (name == "reference") eval.reference = TextOf(value, "reference");
    if (name == "out") plan.out = TextOf(value, "out");
    if (name == "limit") eval.limit = CountOf(value, "limit", kMostItems);
    if (name == "length") eval.length = CountOf(value, "length", std::numeric_limits<int>::max());
    if (name == "planners") grid = GridOf(PlannersOf(value));
    if (name == "preset") preset = TextOf(value, "preset");
    if (name == "temperatures") temperatures = ListOf<double>(value, "temperatures", "numbers");
    if (name == "seeds") {
      plan.axes.seeds = ListOf<std::uint64_t>(value, "seeds", "whole numbers");
      plan.axes.names_seed = true;
    }
  }
  CanonicalTaskSpec(eval.task);
  const bool has_temperature = sampling.contains("temperature") || temperatures;
  if (!plan.axes.names_seed) plan.axes.seeds = {eval.sampling.seed};
  plan.axes.temperatures = {eval.sampling.temperature};
  if (const auto usual = UsualTemperature(eval.task); usual && !has_temperature) plan.axes.temperatures = {*usual};
  if (grid.empty()) grid = PlannerGrid(preset.value_or("baselines"));
  if (preset) {
    plan.TakeOver(FindGrid(*preset), [&](std::string_view setting) {
      if (setting == "temperature") return has_temperature;
      const nb::str name(setting.data(), setting.size());
      return ask.contains(name) || sampling.contains(name);
    });
  }
  if (temperatures) {
    plan.axes.temperatures = *temperatures;
    plan.axes.names_temperature = true;
  }
  if (!eval.sampling.score.empty()) {
    for (GridEntry& entry : grid) entry.score.clear();
  }
  plan.points = SweepPoints(grid, plan.axes);
  eval.sampling.seed = plan.axes.seeds.front();
  eval.sampling.temperature = plan.axes.temperatures.front();
  return plan;
}

BenchReport Measure(SweepPlan& plan, const Model& model, const std::atomic<bool>* cancel, const Tell& tell) {
  EvalSetup setup{.model = model, .judge = JudgeOf(plan.eval)};
  Complete(setup, plan.eval);
  plan.ChooseScore(model);
  SweepRecords records(plan, setup);
  BenchReport report = EmptyReport(plan, setup);
  const Configuration configuration = SweepConfiguration(plan, setup, "punt " PUNT_VERSION " in Python");
  const auto look = [&](std::size_t done) {
    while (report.rows.size() < plan.rows() && records.IsComplete(report.rows.size())) {
      report.rows.push_back(records.Row(report.rows.size()));
      if (!plan.out.empty()) WriteReport(plan.out, report, configuration);
    }
    tell(done, records.items());
  };
  const std::vector<SweepJob> jobs = records.Missing();
  std::size_t done = records.items() - jobs.size();
  look(done);
  JobRunner runner(plan, setup, cancel);
  for (const SweepJob& job : jobs) {
    CheckSignals();
    std::optional<EvalRecord> record = runner.Run(job);
    if (!record) throw Error(ErrorCode::kFailed, "the bench was stopped");
    records.Add(job, std::move(*record));
    look(++done);
  }
  return report;
}

/// The rows as BenchJson writes them, and the table as Markdown. The report's page and picture are in the folder.
nb::tuple Bench(const Engine& engine, nb::dict ask, nb::dict sampling, nb::object progress) {
  SweepPlan plan = PlanOf(engine.choice(), ask, sampling);
  const Tell tell = [&](std::size_t done, std::size_t all) {
    if (progress.is_none()) return;
    nb::gil_scoped_acquire lock;
    progress(done, all);
  };
  std::string rows, table;
  const CallScope call;
  {
    nb::gil_scoped_release release;
    const SignalScope signals;
    const BenchReport report = Measure(plan, engine.model(), call.cancel(), tell);
    rows = BenchJson(report);
    table = BenchMarkdown(report);
  }
  return nb::make_tuple(rows, table);
}

nb::list ListTasks() {
  nb::list list;
  for (const TaskRow& row : Tasks()) {
    const auto text = [](std::string_view value) { return nb::str(value.data(), value.size()); };
    nb::dict entry;
    entry["name"] = text(row.name);
    entry["summary"] = text(row.summary);
    nb::list params;
    for (const ParamRow& param : row.params) params.append(ParamOf(param));
    entry["params"] = params;
    entry["data"] = text(row.data_help);
    entry["quality"] = text(row.quality);
    entry["less_is_better"] = row.less_is_better;
    entry["model"] = text(row.bundled_model);
    entry["model_kind"] = text(row.model_kind);
    list.append(entry);
  }
  return list;
}

}  // namespace

void BindBench(nb::module_& module) {
  module.def("bench", &Bench, nb::arg("engine"), nb::arg("ask"), nb::arg("sampling"), nb::arg("progress").none());
  module.def("tasks", &ListTasks);
}

}  // namespace punt::py
