// punt analyze: reports about planners, as Markdown with pictures.
#include <memory>
#include <vector>

#include "app/analyses.h"

namespace punt {
namespace {

constexpr CommandRow kAnalyses[] = {
    {"exactness", "Laws and errors of every planner on models whose truth is known", AddExactness},
    {"error", "The error of committing tokens in parallel, on any model", AddErrorStudy},
    {"order", "The order in which planners fill the canvas, and what their passes buy", AddOrderStudy},
    {"attention", "How attention and states of a network move where tokens are committed in parallel",
     AddAttentionStudy},
};

}  // namespace

Runner AddAnalyze(CLI::App& command) {
  command.require_subcommand(1);
  std::vector<std::pair<CLI::App*, Runner>> analyses;
  for (const CommandRow& row : kAnalyses) {
    CLI::App* analysis = command.add_subcommand(row.name, row.summary);
    Runner run = row.add(*analysis);
    analyses.emplace_back(analysis, std::move(run));
  }
  return [analyses] {
    for (const auto& [analysis, run] : analyses) {
      if (analysis->parsed()) return run();
    }
    return 0;
  };
}

}  // namespace punt
