// Lists of planners to be measured against each other: the grids of the paper, and one of every planner.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace punt {

/// A planner at one setting.
struct GridEntry {
  std::string family;  // what belongs to one curve
  std::string planner;
  std::string score = {};  // the method's own; empty: the one that all others use
};

/// A benchmark that a preset was run on.
struct GridTask {
  std::string_view name;   // that of the task's row, if there is one
  int shots = 0;           // worked examples in the prompt
  int length = 0;          // positions to generate; 0: not fixed
  std::size_t items = 0;   // per setting
  bool only_hot = false;   // only at the highest temperature
  bool all_items = false;  // `items` is the whole benchmark
};

/// How a preset samples by default; empty members leave it to the run.
struct GridSampling {
  std::vector<double> temperatures = {};
  std::optional<double> top_p = {};
  std::string eos = {};
  std::vector<GridTask> tasks = {};
  std::vector<std::string> open = {};  // what its source leaves open, and what is done; one sentence each
};

struct GridRow {
  std::string_view name;
  std::string_view summary;
  std::vector<GridEntry> (*make)();
  GridSampling (*sampling)();
  /// The confidence score that all methods share, by the model's architecture; empty: the model's own.
  std::string_view (*score)(std::string_view architecture);
};

std::span<const GridRow> PlannerGrids();

/// Throws Error listing the valid names.
const GridRow& FindGrid(std::string_view name);
std::vector<GridEntry> PlannerGrid(std::string_view name);

/// A list of specs; a family is a planner's name.
std::vector<GridEntry> GridOf(std::span<const std::string> planners);

}  // namespace punt
