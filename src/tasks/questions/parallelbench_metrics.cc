#include "tasks/questions/parallelbench_metrics.h"

#include <algorithm>
#include <set>

#include "base/trim.h"

namespace punt {
namespace {

using Names = std::vector<std::string>;

Names Sorted(Names names) {
  std::sort(names.begin(), names.end());
  return names;
}

bool HasInserted(Names names, const Names& input, const std::string& person) {
  const auto found = std::find(names.begin(), names.end(), person);
  if (found == names.end()) return false;
  names.erase(found);
  return names == input;
}

bool HasRemoved(const Names& names, Names input) {
  if (names.size() + 1 != input.size()) return false;
  std::set<std::string> missing(input.begin(), input.end());
  for (const std::string& name : names) missing.erase(name);
  if (missing.size() != 1) return false;
  input.erase(std::find(input.begin(), input.end(), *missing.begin()));
  return names == input;
}

bool HasReplaced(const Names& names, Names input, const std::string& person) {
  const auto found = std::find(names.begin(), names.end(), person);
  if (names.size() != input.size() || found == names.end()) return false;
  input[static_cast<std::size_t>(found - names.begin())] = person;
  return names == input;
}

bool IsRightList(const ParallelBenchItem& item, std::string_view answer, bool strict) {
  const std::optional<Names> names = ParseNameList(answer, strict);
  if (!names) return false;
  if (item.kind == "shuffle") return Sorted(*names) == Sorted(item.input) && *names != item.input;
  if (item.kind == "remove_random") return HasRemoved(*names, item.input);
  if (item.kind == "insert_random") return HasInserted(*names, item.input, item.asked.values.find("word")->second);
  if (item.kind == "replace_random") return HasReplaced(*names, item.input, item.asked.values.find("word")->second);
  return *names == *ParseNameList(item.asked.answer, false);
}

/// The first rows that have all symbols and no others; lines between them do not matter.
bool IsRightSquare(const Names& symbols, std::string_view answer) {
  const std::set<std::string> wanted(symbols.begin(), symbols.end());
  std::vector<Names> rows;
  for (const std::string& line : SplitAt(answer, "\n")) {
    Names cells;
    for (const std::string& cell : SplitAt(line, ",")) cells.emplace_back(Trim(cell));
    if (std::set<std::string>(cells.begin(), cells.end()) == wanted && rows.size() < wanted.size())
      rows.push_back(cells);
  }
  if (rows.size() < wanted.size()) return false;
  std::size_t width = rows[0].size();
  for (const Names& row : rows) width = std::min(width, row.size());
  for (std::size_t i = 0; i < width; ++i) {
    std::set<std::string> column;
    for (const Names& row : rows) column.insert(row[i]);
    if (column != wanted) return false;
  }
  return true;
}

/// Rows of four digits, ignoring what is between the digits; strictly, four lines of four digits.
std::optional<Names> ParseBoard(std::string_view text, bool strict) {
  constexpr std::size_t kSize = 4;
  Names rows;
  for (const std::string& line : SplitAt(Trim(text), "\n")) {
    const std::string_view content = Trim(line);
    std::string digits;
    for (char c : content) digits += c >= '0' && c <= '9' ? std::string(1, c) : "";
    if (strict && !content.empty() && (content.size() != kSize || digits != content)) return std::nullopt;
    if (digits.size() == kSize) rows.push_back(digits);
  }
  if (rows.size() != kSize) return std::nullopt;
  return rows;
}

bool IsRightBoard(const ParallelBenchItem& item, std::string_view answer, bool strict) {
  const std::optional<Names> board = ParseBoard(answer, strict);
  return board && board == ParseBoard(item.asked.answer, true);
}

}  // namespace

std::optional<Names> ParseNameList(std::string_view text, bool strict) {
  const std::size_t open = text.rfind('[');
  if (strict && open == std::string_view::npos) return std::nullopt;
  if (open != std::string_view::npos) text.remove_prefix(open + 1);
  const std::size_t close = text.find(']');
  if (strict && close == std::string_view::npos) return std::nullopt;
  text = text.substr(0, close);
  Names names;
  for (const std::string& part : SplitAt(text, strict ? ", " : ",")) {
    if (!strict) {
      if (!Trim(part).empty()) names.emplace_back(Trim(part, "\" "));
      continue;
    }
    const bool is_quoted = part.size() > 1 && part.front() == '"' && part.back() == '"';
    if (!is_quoted || part.find('"', 1) != part.size() - 1) return std::nullopt;
    names.push_back(part.substr(1, part.size() - 2));
  }
  return names;
}

ParallelBenchVerdict JudgeParallelBench(const ParallelBenchItem& item, std::string_view answer) {
  if (item.kind == kLatinSquareKind) {
    const bool is_right = IsRightSquare(item.input, answer);
    return {is_right, is_right};
  }
  if (item.kind == kSudokuKind) return {IsRightBoard(item, answer, false), IsRightBoard(item, answer, true)};
  return {IsRightList(item, answer, false), IsRightList(item, answer, true)};
}

}  // namespace punt
