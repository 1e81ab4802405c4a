#include "tasks/tasks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "base/setting_error.h"
#include "base/suggest.h"
#include "tasks/mt_bench/mt_bench.h"
#include "tasks/task_rows.h"

namespace punt {
namespace {

Params CheckedParams(const Spec& spec, const TaskRow& row) {
  return Params(spec, row.params, fmt::format("task {}", row.name));
}

}  // namespace

std::span<const TaskRow> Tasks() {
  static const TaskRow kRows[] = {kSudokuRow,    kStoriesRow,   kMembraneRow,      kProteinRow, kInfillRow, kRecordsRow,
                                  kListsRow,     kPuzzlesRow,   kParallelbenchRow, kGsm8kRow,   kMathRow,   kMath500Row,
                                  kCountdownRow, kHumanEvalRow, kMbppRow,          kIfevalRow};
  return kRows;
}

const TaskRow& FindTask(std::string_view text) {
  const Spec spec = ParseSpec(text);
  std::vector<std::string_view> names;
  for (const TaskRow& row : Tasks()) {
    if (row.name == spec.name) return row;
    names.push_back(row.name);
  }
  if (spec.name == kMtBench) BadSetting(kMtBench, "{} runs in no sweep: another model judges its answers", kMtBench);
  names.push_back(kMtBench);
  BadInput("unknown task '{}'{}; valid tasks: {} (in no sweep)", spec.name, DidYouMean(spec.name, names),
           fmt::join(names, ", "));
}

std::string CanonicalTaskSpec(std::string_view text) {
  return CheckedParams(ParseSpec(text), FindTask(text)).Canonical();
}

std::optional<double> UsualTemperature(std::string_view text) {
  const TaskRow& row = FindTask(text);
  if (row.usual_temperature == nullptr) return std::nullopt;
  return row.usual_temperature(CheckedParams(ParseSpec(text), row));
}

std::unique_ptr<Task> MakeTask(std::string_view text, const TaskSetup& setup) {
  const TaskRow& row = FindTask(text);
  const Params params = CheckedParams(ParseSpec(text), row);
  if (setup.model == nullptr && !row.has_reference) BadInput("task {} has no reference: it needs a model", row.name);
  if (!setup.data.empty() && !row.takes_data) BadInput("task {} takes no data", row.name);
  if (!setup.shots.empty() && !row.takes_shots) BadInput("task {} takes no shots", row.name);
  if (!setup.judge.empty() && !row.takes_judge) BadInput("task {} takes no judge", row.name);
  if (!setup.reference.empty() && !row.takes_reference) BadInput("task {} takes no reference", row.name);
  if (setup.constrained && !row.has_language) {
    BadInput("task {} knows nothing of right texts that answers could be held to", row.name);
  }
  return row.make(params, setup);
}

}  // namespace punt
