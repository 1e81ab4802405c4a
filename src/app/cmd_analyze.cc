// punt analyze: reports about planners, as Markdown with pictures.
#include <fmt/ranges.h>

#include <memory>
#include <string_view>
#include <vector>

#include "app/analyses.h"
#include "base/check.h"

namespace punt {
namespace {

constexpr CommandRow kAnalyses[] = {
    {"exactness", "Laws and errors of every planner on models whose truth is known", AddExactness},
    {"error", "The error of committing tokens in parallel, on any model", AddErrorStudy},
    {"order", "The order in which planners fill the canvas, and what their passes buy", AddOrderStudy},
    {"attention", "How attention and states of a network move where tokens are committed in parallel",
     AddAttentionStudy},
    {"influence", "What revealing tokens does to others: data for an influence head, and how good it is",
     AddInfluenceStudy},
};

}  // namespace

Runner AddAnalyze(CLI::App& command) {
  command.require_subcommand(0, 1);
  command.footer(
      "Each takes options of its own: punt analyze error --help.\n\nExamples:\n"
      "  punt analyze exactness --quick --out runs/exactness\n"
      "  punt analyze error --model toy:markov,length=64 --quick --out runs/error\n"
      "  punt analyze order --quick --out runs/order\n"
      "  punt analyze attention --quick --out runs/attention");
  std::vector<std::pair<CLI::App*, Runner>> analyses;
  for (const CommandRow& row : kAnalyses) {
    CLI::App* analysis = command.add_subcommand(row.name, row.summary);
    Runner run = row.add(*analysis);
    analyses.emplace_back(analysis, std::move(run));
  }
  std::vector<std::string_view> names;
  for (const CommandRow& row : kAnalyses) names.push_back(row.name);
  return [analyses, names]() -> int {
    for (const auto& [analysis, run] : analyses) {
      if (analysis->parsed()) return run();
    }
    BadInput("punt analyze needs one of {} (see punt analyze --help)", fmt::join(names, ", "));
  };
}

}  // namespace punt
