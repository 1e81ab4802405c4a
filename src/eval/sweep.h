// A sweep: planners x temperatures x seeds. Every combination is a separate run with its own folder; runs that
// differ only in the seed belong together and become one row of a table.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "eval/planner_grid.h"

namespace punt {

struct SweepAxes {
  std::vector<double> temperatures = {1};
  std::vector<std::uint64_t> seeds = {0};
  // Whether folders are named after them. With lists they are, however short, so that a longer list finds the folders
  // of a shorter one.
  bool names_temperature = false;
  bool names_seed = false;
};

struct SweepPoint {
  GridEntry entry;
  double temperature = 1;
  std::uint64_t seed = 0;
};

/// Temperature by temperature, planner by planner, the seeds of one innermost: points k * seeds ... (k + 1) * seeds - 1
/// are row k.
std::vector<SweepPoint> SweepPoints(std::span<const GridEntry> grid, const SweepAxes& axes);

/// The name of a point's folder: letters, digits, points and dashes.
std::string FolderName(const SweepPoint& point, const SweepAxes& axes);

/// "0.1,0.7" and "1,2,5-9". Throw Error naming `name` on entries that are not numbers, out of range, repeated or empty.
std::vector<double> ParseTemperatures(std::string_view text, std::string_view name);
std::vector<std::uint64_t> ParseSeeds(std::string_view text, std::string_view name);

}  // namespace punt
