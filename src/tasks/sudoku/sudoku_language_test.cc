#include "tasks/sudoku/sudoku_language.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace punt {
namespace {

// All boards of 4 x 4 whose rows are permutations: 24^4.
TEST(SudokuLanguage, HoldsTheBoardsWhoseRowsAgreeWithTheGivens) {
  const SudokuShape shape = ShapeOfSize(4);
  const std::vector<std::string> labels = {"a", "b", "c", "d"};
  const SudokuBoard puzzle = ParseBoard(
      "1000"
      "0020"
      "0000"
      "0003",
      shape);
  const auto language = RowLanguage(shape, puzzle, labels);
  std::vector<std::string> rows;
  for (std::string row = "1234"; rows.empty() || row != "1234"; std::next_permutation(row.begin(), row.end())) {
    rows.push_back(row);
  }
  const auto agrees = [&](const std::string& board) {
    for (int cell = 0; cell < 16; ++cell) {
      const int own = puzzle[static_cast<std::size_t>(cell)], digit = board[static_cast<std::size_t>(cell)] - '0';
      for (int other = 0; other < 16; ++other) {
        const bool is_seen = cell % 4 == other % 4 || cell / 4 == other / 4 ||
                             shape.BoxOf(cell / 4, cell % 4) == shape.BoxOf(other / 4, other % 4);
        if (own == 0 && is_seen && puzzle[static_cast<std::size_t>(other)] == digit) return false;
      }
      if (own != 0 && own != digit) return false;
    }
    return true;
  };
  int found = 0;
  for (const std::string& a : rows) {
    for (const std::string& b : rows) {
      for (const std::string& c : rows) {
        for (const std::string& d : rows) {
          const bool is_in = language->Matches("a" + a + "b" + b + "c" + c + "d" + d);
          ASSERT_EQ(is_in, agrees(a + b + c + d)) << a << b << c << d;
          found += is_in;
        }
      }
    }
  }
  EXPECT_GT(found, 1);
}

TEST(SudokuLanguage, AnEmptyBoardOfNineHasAllPermutations) {
  const SudokuShape shape = ShapeOfSize(9);
  const auto language = RowLanguage(shape, SudokuBoard(81, 0), std::vector<std::string>(9, " "));
  EXPECT_EQ(language->size(), 9 * 512 + 1) << "a label more than sets, and the last set of a row begins the next";
}

}  // namespace
}  // namespace punt
