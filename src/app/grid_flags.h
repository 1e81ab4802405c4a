// Which planners are measured: a preset or a list. Shared by the commands that run several.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "eval/planner_grid.h"

namespace punt {

struct GridFlags {
  std::string preset = "baselines";
  std::string planners;
  CLI::Option* preset_option = nullptr;
  CLI::Option* planners_option = nullptr;

  void AddTo(CLI::App& command);
  /// --planners alone, which is also called --planner, as where there is one.
  void AddPlanners(CLI::App& command);

  /// Throws Error. With `one_score` no planner keeps its own score, because a score that was asked for means all of
  /// them.
  std::vector<GridEntry> Chosen(bool one_score) const;
};

/// The presets, one per line, under a heading.
std::string PresetHelp();

}  // namespace punt
