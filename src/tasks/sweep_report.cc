#include "tasks/sweep_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/atomic_file.h"
#include "base/processors.h"
#include "eval/bench_html.h"
#include "eval/bench_plot.h"
#include "tasks/tasks.h"

namespace punt {
namespace {

namespace fs = std::filesystem;

std::string SamplingLine(const SweepPlan& plan, const Model& model) {
  const bool has_one = plan.axes.seeds.size() == 1;
  return fmt::format("temperature {}, top-p {}, {} {}, score {} unless the planner has its own",
                     fmt::join(plan.axes.temperatures, " and "), plan.eval.sampling.top_p, has_one ? "seed" : "seeds",
                     fmt::join(plan.axes.seeds, ", "), ScoreOf(plan.eval, model, ""));
}

}  // namespace

BenchReport EmptyReport(const SweepPlan& plan, const EvalSetup& setup) {
  return {.task = &FindTask(plan.eval.task),
          .model = setup.model->name,
          .sampling = SamplingLine(plan, *setup.model),
          .rows = {}};
}

Configuration SweepConfiguration(const SweepPlan& plan, const EvalSetup& setup, const std::string& program) {
  const GridEntry& first = plan.points.front().entry;
  Configuration configuration;
  for (auto& [name, value] : EvalConfiguration(plan.eval, setup, first.planner, "")) {
    if (name == "planner") continue;
    if (name == "temperature") value = fmt::format("{}", fmt::join(plan.axes.temperatures, ", "));
    if (name == "seed") value = fmt::format("{}", fmt::join(plan.axes.seeds, ", "));
    if (!value.empty()) configuration.emplace_back(name, value);
  }
  configuration.emplace_back("items per seed", fmt::format("{}", setup.count));
  if (plan.preset != nullptr) configuration.emplace_back("preset", plan.preset->name);
  configuration.emplace_back("processes", fmt::format("{}", plan.processes));
  configuration.emplace_back("threads", fmt::format("{}", ThreadCount(plan.eval.model.threads)));
  configuration.emplace_back("program", program);
  return configuration;
}

void WriteReport(const fs::path& folder, const BenchReport& report, const Configuration& configuration) {
  WriteFileAtomically(folder / "bench.json", BenchJson(report));
  WriteFileAtomically(folder / "bench.md", BenchMarkdown(report));
  WriteFileAtomically(folder / "report.html", BenchHtml(report, configuration));
  if (HasPicture(report)) WriteFileAtomically(folder / "bench.svg", BenchSvg(report));
}

}  // namespace punt
