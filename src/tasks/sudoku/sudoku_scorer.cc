// Scorer `sudoku`: a valid completion of the board. Correct is any board that keeps the givens and holds every digit
// once in every row, column and box; with a puzzle that has one solution that is the solution.
//
// Where the board is looked for: between the last <answer> and </answer>, else in the whole response. There, the last
// run of digits of the board's size; else the last block of lines that each show a row of digits, whatever is
// between the digits ("3 1 4 2", "|3 1|4 2|"), with or without a label of one letter ("A 3142").
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "base/trim.h"
#include "eval/answer_marks.h"
#include "eval/task.h"
#include "report/data_file.h"
#include "tasks/scorer_rows.h"
#include "tasks/sudoku/sudoku_board.h"

namespace punt {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// The shape of the first puzzle.
SudokuShape ShapeOf(std::string_view csv) {
  const std::vector<std::string_view> lines = SplitLines(csv);
  const std::size_t cells = lines.size() < 2 ? 0 : std::min(lines[1].find(','), lines[1].size());
  for (int size : {4, 6, 9}) {
    if (cells == static_cast<std::size_t>(size * size)) return ShapeOfSize(size);
  }
  BadInput("line 2: a puzzle has 16, 36 or 81 cells, not {}", cells);
}

/// The last run of exactly `length` digits.
std::optional<std::string> LastRun(std::string_view text, std::size_t length) {
  std::optional<std::string> last;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && IsDigit(text[end])) ++end;
    if (end - i == length) last = std::string(text.substr(i, length));
    i = std::max(end, i + 1);
  }
  return last;
}

/// The digits of a line that shows a row of a board; empty for any other line.
std::string RowDigits(std::string_view line, std::size_t size) {
  line = Trim(line);
  if (line.size() > 1 && line[0] >= 'A' && line[0] <= 'Z' && line[1] == ' ') line.remove_prefix(2);
  std::string digits;
  for (char c : line) {
    if (IsDigit(c)) digits += c;
    if (!IsDigit(c) && std::string_view(" \t|,[]").find(c) == std::string_view::npos) return "";
  }
  return digits.size() == size ? digits : "";
}

std::optional<std::string> LastRows(std::string_view text, std::size_t size) {
  std::optional<std::string> last;
  std::string board;
  for (std::string_view line : SplitLines(text)) {
    const std::string row = RowDigits(line, size);
    const bool is_rule = line.find_first_not_of(" \t-+|") == std::string_view::npos;  // also an empty line
    if (row.empty() && !is_rule) board.clear();
    board += row;
    if (board.size() < size * size) continue;
    last = board;
    board.clear();
  }
  return last;
}

class SudokuScorer : public Scorer {
 public:
  explicit SudokuScorer(std::string_view csv) : shape_(ShapeOf(csv)), puzzles_(ParsePuzzles(csv, shape_)) {
    for (const SudokuPuzzle& puzzle : puzzles_) {
      items_.push_back({.id = fmt::format("{}", items_.size()),
                        .prompt = BoardText(puzzle.puzzle),
                        .gold = BoardText(puzzle.solution)});
    }
  }

  ScoreVerdict Judge(std::size_t index, std::string_view response) const override {
    const std::string_view text = TaggedAnswer(response).value_or(response);
    std::optional<std::string> found = LastRun(text, static_cast<std::size_t>(shape_.cells()));
    if (!found) found = LastRows(text, static_cast<std::size_t>(shape_.size));
    if (!found) return Verdict(kNoAnswer, false, 0, "no board");
    const ScoreItem& item = items_[index];
    int blanks = 0;
    int right = 0;
    bool keeps = true;
    for (std::size_t cell = 0; cell < found->size(); ++cell) {
      const bool is_blank = item.prompt[cell] == '0';
      keeps = keeps && (is_blank || (*found)[cell] == item.prompt[cell]);
      blanks += is_blank ? 1 : 0;
      right += is_blank && (*found)[cell] == item.gold[cell] ? 1 : 0;
    }
    const double valid = blanks == 0 ? 1 : static_cast<double>(right) / blanks;
    if (!keeps) return Verdict(*found, false, valid, "changes a given");
    const bool solves = Solves(*found);
    return Verdict(*found, solves, valid, solves ? "" : "breaks a rule");
  }

  /// The last run of digits of the board's size, so that any phrasing around the puzzle is found.
  std::string QuestionKey(std::string_view question) const override {
    return LastRun(question, static_cast<std::size_t>(shape_.cells())).value_or(CollapseSpace(question));
  }

 private:
  bool Solves(const std::string& board) const {
    try {
      return IsSolution(shape_, ParseBoard(board, shape_));
    } catch (const Error&) {
      return false;  // a digit beyond the board's
    }
  }

  static ScoreVerdict Verdict(std::string extracted, bool correct, double valid, std::string reason) {
    return {.extracted = std::move(extracted),
            .values = {{kCorrect, correct ? 1 : 0}, {"valid_cells", valid}},
            .reason = std::move(reason)};
  }

  SudokuShape shape_;
  std::vector<SudokuPuzzle> puzzles_;
};

constexpr ScoreFigure kFigures[] = {
    {.name = "correct", .help = "a board that keeps the givens and breaks no rule"},
    {.name = "valid_cells", .help = "share of the blanks that are filled as in the solution", .is_share = false},
};

}  // namespace

const ScorerRow kSudokuScorer = {
    .name = "sudoku",
    .alias = "",
    .summary = "complete sudoku boards of 4, 6 or 9 rows",
    .data_help = "CSV with a header puzzle,solution; 4x4_test_sudoku.csv of dllm-reasoning/d1",
    .response_help = "between <answer> and </answer>, else anywhere: the last board in one line or row by row",
    .figures = kFigures,
    .make = [](const ScorerSetup& setup) -> std::unique_ptr<Scorer> {
      return std::make_unique<SudokuScorer>(setup.data);
    }};

}  // namespace punt
