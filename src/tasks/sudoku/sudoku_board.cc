// A board is searched exactly: the digits still possible in a cell are what the bit sets of its row, column and box
// leave, the cell with the fewest comes next, and the search backs out of cells with none. Counting stops at a limit,
// so that "exactly one" costs no more than finding a second solution. (Most constrained first is what keeps it small:
// a 9 x 9 board with 36 givens takes a few dozen nodes.)
//
// A random solution is the first one found on an empty board with the digits tried in random order. A puzzle is a
// random solution whose cells are blanked in random order, each only if the solution stays the only one, until the
// wanted number of givens is left; if an order of cells cannot get there, another solution is tried. The law over
// puzzles is not uniform, and need not be.
//
// Tested against a solver that tries every digit in every cell in turn (sudoku_board_test.cc).
#include "tasks/sudoku/sudoku_board.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <span>
#include <utility>

#include "base/check.h"
#include "eval/stream.h"
#include "report/data_file.h"

namespace punt {
namespace {

constexpr int kMostAttempts = 2000;

class Search {
 public:
  Search(const SudokuShape& shape, const SudokuBoard& board) : shape_(shape), board_(board) {
    for (int cell = 0; cell < shape.cells(); ++cell) {
      const int digit = board_[static_cast<std::size_t>(cell)];
      if (digit == 0) continue;
      if ((Possible(cell) & Bit(digit)) == 0) is_consistent_ = false;
      Flip(cell, digit);
    }
  }

  /// Stops at `limit` solutions, leaving the last one on the board. With a stream digits come in random order.
  int Run(int limit, RandomStream* random) {
    limit_ = limit;
    random_ = random;
    found_ = 0;
    if (is_consistent_ && limit > 0) Descend();
    return found_;
  }

  const SudokuBoard& board() const { return board_; }

 private:
  using Set = std::uint32_t;
  static Set Bit(int digit) { return Set{1} << digit; }

  void Flip(int cell, int digit) {
    const int row = cell / shape_.size;
    const int column = cell % shape_.size;
    rows_[static_cast<std::size_t>(row)] ^= Bit(digit);
    columns_[static_cast<std::size_t>(column)] ^= Bit(digit);
    boxes_[static_cast<std::size_t>(shape_.BoxOf(row, column))] ^= Bit(digit);
  }

  Set Possible(int cell) const {
    const int row = cell / shape_.size;
    const int column = cell % shape_.size;
    const Set taken = rows_[static_cast<std::size_t>(row)] | columns_[static_cast<std::size_t>(column)] |
                      boxes_[static_cast<std::size_t>(shape_.BoxOf(row, column))];
    return (Bit(shape_.size + 1) - 2) & ~taken;
  }

  /// -1 when no cell is blank.
  int MostConstrained() const {
    int best = -1;
    int fewest = shape_.size + 1;
    for (int cell = 0; cell < shape_.cells(); ++cell) {
      if (board_[static_cast<std::size_t>(cell)] != 0) continue;
      const int count = std::popcount(Possible(cell));
      if (count >= fewest) continue;
      best = cell;
      fewest = count;
      if (count <= 1) break;
    }
    return best;
  }

  /// True when the search is over.
  bool Descend() {
    const int cell = MostConstrained();
    if (cell < 0) return ++found_ == limit_;
    std::array<int, 10> digits{};
    std::size_t count = 0;
    for (Set left = Possible(cell); left != 0; left &= left - 1) digits[count++] = std::countr_zero(left);
    if (random_ != nullptr) Shuffle(std::span(digits).first(count), *random_);
    for (std::size_t i = 0; i < count; ++i) {
      board_[static_cast<std::size_t>(cell)] = static_cast<std::uint8_t>(digits[i]);
      Flip(cell, digits[i]);
      const bool is_over = Descend();
      Flip(cell, digits[i]);
      if (is_over) return true;
    }
    board_[static_cast<std::size_t>(cell)] = 0;
    return false;
  }

  SudokuShape shape_;
  SudokuBoard board_;
  std::array<Set, 9> rows_{};
  std::array<Set, 9> columns_{};
  std::array<Set, 9> boxes_{};
  bool is_consistent_ = true;
  RandomStream* random_ = nullptr;
  int limit_ = 0;
  int found_ = 0;
};

SudokuBoard RandomSolution(const SudokuShape& shape, RandomStream& random) {
  Search search(shape, SudokuBoard(static_cast<std::size_t>(shape.cells()), 0));
  search.Run(1, &random);
  return search.board();
}

int FewestGivens(const SudokuShape& shape) { return shape.size == 9 ? 17 : shape.size == 6 ? 8 : 4; }

/// Blanks cells until `givens` are left; false if the order of cells cannot get there.
bool Blank(const SudokuShape& shape, int givens, RandomStream& random, SudokuBoard& board) {
  std::vector<int> order(static_cast<std::size_t>(shape.cells()));
  std::iota(order.begin(), order.end(), 0);
  Shuffle(std::span(order), random);
  int left = shape.cells();
  for (int cell : order) {
    if (left == givens) break;
    const std::uint8_t digit = std::exchange(board[static_cast<std::size_t>(cell)], std::uint8_t{0});
    if (CountSolutions(shape, board, 2) == 1) {
      --left;
    } else {
      board[static_cast<std::size_t>(cell)] = digit;
    }
  }
  return left == givens;
}

}  // namespace

SudokuShape ShapeOfSize(int size) {
  if (size == 9) return {.size = 9, .box_rows = 3, .box_columns = 3};
  if (size == 6) return {.size = 6, .box_rows = 2, .box_columns = 3};
  if (size == 4) return {.size = 4, .box_rows = 2, .box_columns = 2};
  BadInput("a sudoku board has size 9, 6 or 4, got {}", size);
}

std::string BoardText(const SudokuBoard& board) {
  std::string text;
  text.reserve(board.size());
  for (int digit : board) text += static_cast<char>('0' + digit);
  return text;
}

SudokuBoard ParseBoard(std::string_view text, const SudokuShape& shape) {
  if (text.size() != static_cast<std::size_t>(shape.cells())) {
    BadInput("a board of size {} has {} cells, got {}", shape.size, shape.cells(), text.size());
  }
  SudokuBoard board;
  for (char c : text) {
    if (c < '0' || c > '0' + shape.size) BadInput("a cell holds 0 to {}, got '{}'", shape.size, c);
    board.push_back(static_cast<std::uint8_t>(c - '0'));
  }
  return board;
}

bool IsSolution(const SudokuShape& shape, const SudokuBoard& board) {
  return board.size() == static_cast<std::size_t>(shape.cells()) &&
         std::find(board.begin(), board.end(), 0) == board.end() && CountSolutions(shape, board, 1) == 1;
}

std::string BrokenRule(const SudokuShape& shape, const SudokuBoard& board) {
  const auto row = [&](int cell) { return cell / shape.size; };
  const auto column = [&](int cell) { return cell % shape.size; };
  const auto box = [&](int cell) { return shape.BoxOf(row(cell), column(cell)); };
  for (int b = 0; b < shape.cells(); ++b) {
    for (int a = 0; a < b; ++a) {
      const int digit = board[static_cast<std::size_t>(a)];
      if (digit == 0 || digit != board[static_cast<std::size_t>(b)]) continue;
      const std::string twice = fmt::format("{} stands twice in", digit);
      if (row(a) == row(b)) {
        return fmt::format("{} row {} (columns {} and {})", twice, row(a) + 1, column(a) + 1, column(b) + 1);
      }
      if (column(a) == column(b)) {
        return fmt::format("{} column {} (rows {} and {})", twice, column(a) + 1, row(a) + 1, row(b) + 1);
      }
      if (box(a) == box(b)) {
        return fmt::format("{} box {} (row {}, column {} and row {}, column {})", twice, box(a) + 1, row(a) + 1,
                           column(a) + 1, row(b) + 1, column(b) + 1);
      }
    }
  }
  return "";
}

int CountSolutions(const SudokuShape& shape, const SudokuBoard& board, int limit) {
  return Search(shape, board).Run(limit, nullptr);
}

Range UsualGivens(const SudokuShape& shape) {
  return shape.size == 9 ? Range{36, 46} : shape.size == 6 ? Range{12, 18} : Range{5, 8};
}

void RequireGivens(const SudokuShape& shape, const Range& givens) {
  if (givens.min > givens.max || givens.min < FewestGivens(shape) || givens.max > shape.cells()) {
    BadInput("givens of a board of size {} lie between {} and {}, got {}-{}", shape.size, FewestGivens(shape),
             shape.cells(), givens.min, givens.max);
  }
}

SudokuPuzzle MakePuzzle(const SudokuShape& shape, const Range& givens, const PuzzleKey& key) {
  RequireGivens(shape, givens);
  RandomStream random = EvalStream("sudoku", key.seed, key.index);
  const int choices = givens.max - givens.min + 1;
  const int wanted = givens.min + static_cast<int>(random.Below(static_cast<std::uint64_t>(choices)));
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    const SudokuBoard solution = RandomSolution(shape, random);
    SudokuBoard puzzle = solution;
    if (Blank(shape, wanted, random, puzzle)) return {std::move(puzzle), solution};
  }
  throw Error(ErrorCode::kFailed,
              fmt::format("no puzzle of size {} with {} givens and one solution was found", shape.size, wanted));
}

namespace {

bool EqualButForCase(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

std::string_view PuzzleHeader() { return "puzzle,solution"; }

std::vector<SudokuPuzzle> ParsePuzzles(std::string_view csv, const SudokuShape& shape) {
  const std::vector<std::string_view> lines = SplitLines(csv);
  if (lines.empty() || !EqualButForCase(lines[0], PuzzleHeader()))
    BadInput("the first line must be '{}'", PuzzleHeader());
  std::vector<SudokuPuzzle> puzzles;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    const std::size_t comma = std::min(line.find(','), line.size());
    try {
      if (comma == line.size()) BadInput("expected a puzzle, a comma and a solution");
      SudokuPuzzle entry{ParseBoard(line.substr(0, comma), shape), ParseBoard(line.substr(comma + 1), shape)};
      if (!IsSolution(shape, entry.solution)) BadInput("the solution breaks a rule");
      for (std::size_t cell = 0; cell < entry.puzzle.size(); ++cell) {
        if (entry.puzzle[cell] != 0 && entry.puzzle[cell] != entry.solution[cell]) {
          BadInput("puzzle and solution disagree in cell {}", cell + 1);
        }
      }
      puzzles.push_back(std::move(entry));
    } catch (const Error& error) {
      BadInput("line {}: {}", i + 1, error.what());
    }
  }
  return puzzles;
}

}  // namespace punt
