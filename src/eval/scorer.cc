#include "eval/scorer.h"

#include <string_view>

#include "base/check.h"
#include "base/setting_error.h"
#include "eval/answer_marks.h"
#include "report/data_file.h"

namespace punt {

std::unique_ptr<Scorer> MakeScorer(const ScorerRow& row, const std::string& data_path, const ProgramOptions& programs) {
  const std::string data = ReadDataFile(data_path);
  try {
    std::unique_ptr<Scorer> scorer = row.make({.data = data, .programs = programs, .path = data_path});
    if (scorer->items().empty()) BadInput("there are no items");
    return scorer;
  } catch (const Error& error) {
    if (std::string_view(error.what()).starts_with(data_path)) throw;
    ThrowBehind(data_path, error);
  }
}

std::string Scorer::QuestionKey(std::string_view question) const { return CollapseSpace(question); }

}  // namespace punt
