// The one table of scorers, and making them from data files.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "base/suggest.h"
#include "eval/answer_marks.h"
#include "eval/data_file.h"
#include "eval/mt_bench.h"
#include "eval/scorer_rows.h"

namespace punt {

std::span<const ScorerRow> Scorers() {
  static const ScorerRow kRows[] = {kGsm8kScorer,     kMathScorer, kCountdownScorer, kSudokuScorer,
                                    kHumanEvalScorer, kMbppScorer, kIfevalScorer};
  return kRows;
}

const ScorerRow& FindScorer(std::string_view name) {
  std::vector<std::string_view> names;
  for (const ScorerRow& row : Scorers()) {
    if (name == row.name || (!row.alias.empty() && name == row.alias)) return row;
    names.push_back(row.name);
    if (!row.alias.empty()) names.push_back(row.alias);
  }
  names.push_back(kMtBench);
  BadInput("nothing scores '{}'{}; valid tasks: {}", name, DidYouMean(name, names), fmt::join(names, ", "));
}

std::unique_ptr<Scorer> MakeScorer(const ScorerRow& row, const std::string& data_path, const ProgramOptions& programs) {
  const std::string data = ReadDataFile(data_path);
  try {
    std::unique_ptr<Scorer> scorer = row.make({.data = data, .programs = programs, .path = data_path});
    if (scorer->items().empty()) BadInput("there are no items");
    return scorer;
  } catch (const Error& error) {
    const std::string message = error.what();  // some name the file already
    BadInput("{}", message.starts_with(data_path) ? message : fmt::format("{}: {}", data_path, message));
  }
}

std::string Scorer::QuestionKey(std::string_view question) const { return CollapseSpace(question); }

}  // namespace punt
