// Every method is ranked by the same score (that of the run), except where its definition names its own.
#include "eval/planner_grid.h"

#include <fmt/format.h>

#include "base/check.h"

namespace punt {
namespace {

/// An entropy bound adds up entropies; a threshold is one of the proposed token's probability.
std::string OwnScore(std::string_view planner) {
  if (planner == "entropy-bound") return "neg-entropy";
  if (planner == "threshold" || planner == "factor" || planner == "klass") return "token-prob";
  return "";
}

/// One entry per value; `pattern` has {} where the value goes.
void Add(std::vector<GridEntry>& grid, const std::string& family, const std::string& pattern,
         const std::vector<double>& values) {
  for (double value : values) {
    grid.push_back({family, fmt::format(fmt::runtime(pattern), fmt::format("{:g}", value)), OwnScore(family)});
  }
}

std::vector<GridEntry> PaperText() {
  std::vector<GridEntry> grid;
  Add(grid, "punt", "punt:epsilon={}", {0.01, 0.02, 0.04, 0.08, 0.16, 0.32});
  Add(grid, "top-k", "top-k:k={}", {1, 2, 3, 4, 5, 6});
  Add(grid, "entropy-bound", "entropy-bound:gamma={}", {0.01, 0.05, 0.1, 0.5, 1, 2, 4});
  Add(grid, "dilated", "dilated:log_window={}", {3, 4, 5, 6, 7});
  return grid;
}

std::vector<GridEntry> PaperProtein() {
  std::vector<GridEntry> grid;
  Add(grid, "punt", "punt:epsilon={}", {0.001, 0.004, 0.01, 0.02, 0.04, 0.08, 0.16});
  Add(grid, "top-k", "top-k:k={}", {1, 2, 3, 4, 6, 8, 12});
  Add(grid, "entropy-bound", "entropy-bound:gamma={}", {0.1, 0.5, 1, 5, 10});
  Add(grid, "dilated", "dilated:log_window={}", {3, 4, 5, 6, 7, 10});
  return grid;
}

/// Planners that need what a network alone has (dawn) or a model whose rows are not shifted (wino) are not among them:
/// the list must run on every model.
std::vector<GridEntry> Every() {
  std::vector<GridEntry> grid = {{"left-to-right", "left-to-right"}};
  Add(grid, "random", "random:k={}", {1, 4});
  Add(grid, "punt", "punt:epsilon={}", {0.001, 0.01, 0.04, 0.16});
  Add(grid, "top-k", "top-k:k={}", {1, 2, 4, 8});
  Add(grid, "entropy-bound", "entropy-bound:gamma={}", {0.1, 1, 4});
  Add(grid, "dilated", "dilated:log_window={}", {3, 5, 7});
  Add(grid, "threshold", "threshold:tau={}", {0.7, 0.9, 0.99});
  Add(grid, "factor", "factor:f={}", {0.5, 1});
  Add(grid, "timestep", "timestep:steps={}", {16, 64});
  Add(grid, "halton", "halton:steps={}", {16, 64});
  Add(grid, "klass", "klass:kl_threshold={}", {0.01});
  Add(grid, "info-gain", "info-gain:k={}", {4});
  Add(grid, "remdm", "remdm:steps={}", {64});
  Add(grid, "p2", "p2:steps={}", {64});
  return grid;
}

constexpr GridRow kGrids[] = {
    {"paper-text", "PUNT and the paper's three baselines over its grid for text", PaperText},
    {"paper-protein", "the same over its grid for proteins", PaperProtein},
    {"every", "every planner that runs on every model, at one to four settings", Every},
};

}  // namespace

std::span<const GridRow> PlannerGrids() { return kGrids; }

std::vector<GridEntry> PlannerGrid(std::string_view name) {
  std::string names;
  for (const GridRow& row : kGrids) {
    if (row.name == name) return row.make();
    names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name);
  }
  BadInput("unknown preset '{}'; valid: {}", name, names);
}

std::vector<GridEntry> GridOf(std::span<const std::string> planners) {
  std::vector<GridEntry> grid;
  for (const std::string& planner : planners) {
    const std::string family = planner.substr(0, planner.find(':'));
    grid.push_back({family, planner, OwnScore(family)});
  }
  return grid;
}

}  // namespace punt
