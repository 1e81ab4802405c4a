// Lists of planners to be measured against each other: the grids of the paper, and one of every planner.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace punt {

/// A planner at one setting.
struct GridEntry {
  std::string family;  // what belongs to one curve
  std::string planner;
  std::string score = {};  // the method's own; empty: the one that is used for all
};

struct GridRow {
  std::string_view name;
  std::string_view summary;
  std::vector<GridEntry> (*make)();
};

std::span<const GridRow> PlannerGrids();

/// Throws Error listing the valid names.
std::vector<GridEntry> PlannerGrid(std::string_view name);

/// A list of specs; a family is a planner's name.
std::vector<GridEntry> GridOf(std::span<const std::string> planners);

}  // namespace punt
