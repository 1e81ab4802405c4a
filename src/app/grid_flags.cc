#include "app/grid_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "app/comparison.h"
#include "app/help.h"
#include "base/check.h"

namespace punt {

void GridFlags::AddTo(CLI::App& command) {
  AddPlanners(command);
  std::vector<std::string_view> names;
  for (const GridRow& row : PlannerGrids()) names.push_back(row.name);
  preset_option = command.add_option("--preset", preset, fmt::format("A list of planners: {}", fmt::join(names, ", ")))
                      ->capture_default_str();
  SetGroup(command, "Planners", {"--preset"});
}

void GridFlags::AddPlanners(CLI::App& command) {
  planners_option = command.add_option("--planners,--planner", planners, "SPEC;SPEC;... (see punt list planners)");
  SetGroup(command, "Planners", {"--planners"});
}

std::vector<GridEntry> GridFlags::Chosen(bool one_score) const {
  const bool is_list = planners_option->count() > 0;
  if (is_list && preset_option->count() > 0) BadInput("--planners and --preset exclude each other");
  std::vector<GridEntry> grid = is_list ? GridOf(ParsePlannerList(planners)) : PlannerGrid(preset);
  if (!one_score) return grid;
  for (GridEntry& entry : grid) entry.score.clear();
  return grid;
}

std::string PresetHelp() {
  std::string text = "Presets:\n";
  for (const GridRow& row : PlannerGrids()) text += fmt::format("  {:<14} {}\n", row.name, row.summary);
  return text;
}

}  // namespace punt
