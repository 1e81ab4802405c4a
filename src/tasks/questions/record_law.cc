#include "tasks/questions/record_law.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "report/chi_square.h"
#include "tasks/questions/question_words.h"

namespace punt {
namespace {

/// A value, and how many equally likely values there are.
struct Cell {
  std::string field;
  std::size_t index = 0;
  std::size_t cells = 0;
};

Cell WordCell(const std::string& field, std::span<const std::string_view> words, const RecordEntry& entry) {
  return {field, *IndexIn(words, entry.at(field)), words.size()};
}

/// The pairs of days in order of the first, then of the second.
Cell DaysCell(const RecordEntry& entry) {
  const std::size_t days = Days().size();
  const std::size_t from = *IndexIn(Days(), entry.at("from")), to = *IndexIn(Days(), entry.at("to"));
  return {"days", from * (2 * days - from - 1) / 2 + to - from - 1, days * (days - 1) / 2};
}

Cell LetterCell(const std::string& field, char letter, char first, std::size_t cells) {
  return {field, static_cast<std::size_t>(letter - first), cells};
}

/// The free fields of a consistent entry.
std::vector<Cell> CellsOf(std::string_view schema, const RecordEntry& entry) {
  std::vector<Cell> cells;
  if (schema == "people") cells.push_back(WordCell("name", RecordNames(), entry));
  if (schema == "trips") {
    cells.push_back(WordCell("month", Months(), entry));
    cells.push_back(DaysCell(entry));
  }
  if (schema == "orders") {
    const std::string& id = entry.at("id");
    cells.push_back(LetterCell("id_1", id[0], 'A', 26));
    cells.push_back(LetterCell("id_2", id[1], 'A', 26));
    cells.push_back(LetterCell("id_3", id[2], '0', 10));
  }
  if (entry.contains("city")) cells.push_back(WordCell("city", Cities(), entry));
  if (entry.contains("total")) {
    for (const char* part : {"a", "b"}) cells.push_back(LetterCell(part, entry.at(part)[0], '0', 5));
  }
  return cells;
}

}  // namespace

void RecordLaw::Add(std::string_view schema, std::span<const RecordEntry> entries) {
  if (entries.empty()) return;
  std::set<std::vector<std::size_t>> different;
  double possible = 1;
  for (const RecordEntry& entry : entries) {
    std::vector<std::size_t> key;
    possible = 1;
    for (const Cell& cell : CellsOf(schema, entry)) {
      std::vector<std::int64_t>& counts = counts_[cell.field];
      counts.resize(cell.cells);
      ++counts[cell.index];
      key.push_back(cell.index);
      possible *= static_cast<double>(cell.cells);
    }
    different.insert(key);
  }
  const auto all = static_cast<double>(entries.size());
  distinct_.push_back(static_cast<double>(different.size()));
  expected_.push_back(schema == "orders" ? all : possible * (1 - std::pow(1 - 1 / possible, all)));
  all_.push_back(all);
}

std::vector<Figure> RecordLaw::Figures() const {
  if (all_.empty()) return {};
  double least = 1;
  int tests = 0;
  std::vector<Figure> details;
  for (const auto& [field, counts] : counts_) {
    const std::optional<ChiSquareTest> test = TestEven(counts);
    if (!test) continue;
    ++tests;
    least = std::min(least, test->p);
    details.push_back({.name = "law_p_" + field, .value = test->p, .is_detail = true});
    details.push_back({.name = "law_chi2_" + field, .value = test->statistic, .is_detail = true});
    details.push_back({.name = "law_degrees_" + field, .value = static_cast<double>(test->degrees), .is_detail = true});
  }
  std::vector<Figure> figures;
  if (tests > 0) figures.push_back({.name = "law_p", .value = std::min(1.0, tests * least)});
  figures.push_back(FigureOf("distinct_entries", RatioOf(distinct_, all_, kShares)));
  figures.push_back({.name = "distinct_expected", .value = RatioOf(expected_, all_, kShares).value});
  figures.insert(figures.end(), details.begin(), details.end());
  return figures;
}

}  // namespace punt
