#include "app/grid_flags.h"

#include <fmt/format.h>

#include "app/comparison.h"
#include "base/check.h"

namespace punt {

void GridFlags::AddTo(CLI::App& command) {
  preset_option = command.add_option("--preset", preset, "A list of planners: see below")->capture_default_str();
  planners_option = command.add_option("--planners", planners, "SPEC;SPEC;... (see punt list planners)");
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
