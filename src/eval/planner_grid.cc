// Two of the lists are the experiments of the paper as given in its appendix (section "Implementation and
// Experiments" for text, "Masked Diffusion Models for Proteins"): there all methods share the score of the model. In
// the others every method ranks by the score of the run, unless its definition names its own.
#include "eval/planner_grid.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "base/suggest.h"

namespace punt {
namespace {

/// An entropy bound adds up entropies; a threshold applies to the proposed token's probability.
std::string OwnScore(std::string_view planner) {
  if (planner == "entropy-bound") return "neg-entropy";
  for (std::string_view name :
       {"threshold", "factor", "frechet", "klass", "less", "saber", "dapd", "clad", "upstream", "joint-threshold"}) {
    if (planner == name) return "token-prob";
  }
  return "";
}

/// One entry per value; `pattern` has {} where the value goes.
void Add(std::vector<GridEntry>& grid, const std::string& pattern, const std::vector<double>& values) {
  const std::string family = pattern.substr(0, pattern.find(':'));
  for (double value : values) grid.push_back({family, fmt::format(fmt::runtime(pattern), fmt::format("{:g}", value))});
}

/// `punt` is the pattern of PUNT's entries.
std::vector<GridEntry> TextGrid(const std::string& punt) {
  std::vector<GridEntry> grid;
  Add(grid, punt, {0.01, 0.02, 0.04, 0.08, 0.16, 0.32});
  Add(grid, "top-k:k={}", {1, 2, 3, 4, 5, 6});
  Add(grid, "entropy-bound:gamma={}", {0.01, 0.05, 0.1, 0.5, 1, 2, 4});
  Add(grid, "dilated:log_window={}", {3, 4, 5, 6, 7});
  return grid;
}

std::vector<GridEntry> PaperText() { return TextGrid("punt:epsilon={},fallback=false"); }

GridSampling PaperTextSampling() {
  return {
      .temperatures = {0.1, 0.7},
      .top_p = 0.9,
      .eos = "deprioritise",
      .tasks = {{.name = "gsm8k", .shots = 4, .length = 512, .items = 1319, .all_items = true},
                {.name = "humaneval", .length = 512, .items = 164, .all_items = true},
                {.name = "mbpp", .shots = 3, .length = 512, .items = 500, .all_items = true},
                {.name = "ifeval", .length = 1024, .items = 541, .all_items = true},
                {.name = "mt-bench", .length = 1024, .items = 160, .only_hot = true, .all_items = true}},
      .open = {"PUNT's epsilon: the paper gives 0.01 and 0.32 with dots between; here every value is twice the last",
               "when end-of-sequence tokens come last: \"when early termination is undesirable\"; here always",
               "the unit of the entropy bound: here nats; and what it adds up: here untempered entropies",
               "seeds and repetitions: here what is asked for",
               "which worked examples, and whether prompts go through the chat template",
               "MATH is among the paper's datasets, but has neither settings nor results there"}};
}

/// "The same confidence scoring strategy for each model: the top probability margin for LLaDA, negative entropy for
/// Dream."
std::string_view PaperTextScore(std::string_view architecture) {
  return architecture == "dream" ? "neg-entropy" : "margin";
}

std::vector<GridEntry> PaperProtein() {
  std::vector<GridEntry> grid;
  Add(grid, "punt:epsilon={},fallback=false", {0.001, 0.004, 0.01, 0.02, 0.04, 0.08, 0.16});
  Add(grid, "top-k:k={}", {1, 2, 3, 4, 6, 8, 12});
  Add(grid, "entropy-bound:gamma={}", {0.1, 0.5, 1, 5, 10});
  Add(grid, "dilated:log_window={}", {3, 4, 5, 6, 7, 10});
  return grid;
}

GridSampling PaperProteinSampling() {
  return {.temperatures = {0.8},
          .top_p = 0.9,
          .eos = "forbid",
          .tasks = {{.name = "membrane", .items = 50}},
          .open = {"lengths: \"up to 1024 amino acids\"; here those of the task, unless one is asked for",
                   "the nucleus: 0.9 is said of \"all methods\" in the section on text; taken over",
                   "the confidence score: none is named for proteins; here the model's own, unless one is asked for",
                   "the quality of the paper is ESMFold's pLDDT, which is not computed here",
                   "the unit of the entropy bound: here nats"}};
}

std::string_view OwnOfModel(std::string_view) { return ""; }
GridSampling AsTheRunSays() { return {}; }

/// Entries of their definitions' scores.
std::vector<GridEntry> WithOwnScores(std::vector<GridEntry> grid) {
  for (GridEntry& entry : grid) entry.score = OwnScore(entry.family);
  return grid;
}

std::vector<GridEntry> Baselines() { return WithOwnScores(TextGrid("punt:epsilon={}")); }

/// Planners that need a network (dawn, dapd, clad, adas) or a model whose rows are not shifted (wino) are left out: the
/// list must run on every model.
std::vector<GridEntry> Every() {
  std::vector<GridEntry> grid = {{"left-to-right", "left-to-right"}};
  Add(grid, "random:k={}", {1, 4});
  Add(grid, "punt:epsilon={}", {0.001, 0.01, 0.04, 0.16});
  Add(grid, "scout:doubt={}", {0.03, 0.1, 0.3});
  Add(grid, "top-k:k={}", {1, 2, 4, 8});
  Add(grid, "entropy-bound:gamma={}", {0.1, 1, 4});
  Add(grid, "dilated:log_window={}", {3, 5, 7});
  Add(grid, "threshold:tau={}", {0.7, 0.9, 0.99});
  Add(grid, "factor:f={}", {0.5, 1});
  Add(grid, "frechet:delta={}", {0.02, 0.25});
  Add(grid, "upstream:beta={}", {4});
  Add(grid, "timestep:steps={}", {16, 64});
  Add(grid, "halton:steps={}", {16, 64});
  Add(grid, "klass:kl_threshold={}", {0.01});
  Add(grid, "less:drift_threshold={}", {0.04});
  Add(grid, "saber:n={}", {2});
  Add(grid, "freedave:draft={}", {4});
  Add(grid, "info-gain:k={}", {4});
  Add(grid, "remdm:steps={}", {64});
  Add(grid, "p2:steps={}", {64});
  return WithOwnScores(std::move(grid));
}

constexpr GridRow kGrids[] = {
    {"baselines", "PUNT and the paper's three baselines over its grid for text, sampled as you say", Baselines,
     AsTheRunSays, OwnOfModel},
    {"paper-text", "the same as the paper does it: temperatures 0.1 and 0.7, nucleus 0.9, the model's score for all",
     PaperText, PaperTextSampling, PaperTextScore},
    {"paper-protein", "the paper's grid for proteins: temperature 0.8, no end of sequence, 50 items", PaperProtein,
     PaperProteinSampling, OwnOfModel},
    {"every", "every planner that runs on every model, at one to four settings", Every, AsTheRunSays, OwnOfModel},
};

}  // namespace

std::span<const GridRow> PlannerGrids() { return kGrids; }

const GridRow& FindGrid(std::string_view name) {
  std::vector<std::string_view> names;
  for (const GridRow& row : kGrids) {
    if (row.name == name) return row;
    names.push_back(row.name);
  }
  BadInput("unknown preset '{}'{}; valid: {}", name, DidYouMean(name, names), fmt::join(names, ", "));
}

std::vector<GridEntry> PlannerGrid(std::string_view name) { return FindGrid(name).make(); }

std::vector<GridEntry> GridOf(std::span<const std::string> planners) {
  std::vector<GridEntry> grid;
  for (const std::string& planner : planners) {
    const std::string family = planner.substr(0, planner.find(':'));
    grid.push_back({family, planner, OwnScore(family)});
  }
  return grid;
}

}  // namespace punt
