// Sudoku boards: random solutions, counting solutions, puzzles with one solution.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace punt {

/// Rows, columns and boxes each hold the digits 1..size once.
struct SudokuShape {
  int size = 9;
  int box_rows = 3;
  int box_columns = 3;

  int cells() const { return size * size; }
  int BoxOf(int row, int column) const { return row / box_rows * (size / box_columns) + column / box_columns; }
};

/// 9 (boxes of 3 x 3), 6 (2 rows x 3 columns) or 4 (2 x 2); anything else throws Error.
SudokuShape ShapeOfSize(int size);

/// Row by row; 0 is a blank.
using SudokuBoard = std::vector<std::uint8_t>;

/// One character per cell, '0' for a blank. Reading throws Error naming what is wrong.
std::string BoardText(const SudokuBoard& board);
SudokuBoard ParseBoard(std::string_view text, const SudokuShape& shape);

/// Every row, column and box holds every digit.
bool IsSolution(const SudokuShape& shape, const SudokuBoard& board);

/// The first rule that givens break, "5 stands twice in row 1 (columns 1 and 2)"; rows, columns and boxes are counted
/// from 1. Empty: none.
std::string BrokenRule(const SudokuShape& shape, const SudokuBoard& board);

/// The number of solutions, counted no further than `limit`. A board that breaks a rule has none.
int CountSolutions(const SudokuShape& shape, const SudokuBoard& board, int limit);

struct SudokuPuzzle {
  SudokuBoard puzzle;
  SudokuBoard solution;
};

struct Range {
  int min = 0;
  int max = 0;
};

/// The numbers of givens that models are trained and tested on: 36..46, 12..18, 5..8.
Range UsualGivens(const SudokuShape& shape);

/// Throws Error when no puzzle with one solution has these numbers of givens: fewer than 17, 8 or 4 are never enough.
void RequireGivens(const SudokuShape& shape, const Range& givens);

/// Names the random numbers of a puzzle: puzzle `index` of a seed is the same in any run.
struct PuzzleKey {
  std::uint64_t seed = 0;
  std::uint64_t index = 0;
};

/// A puzzle with exactly one solution and a number of givens drawn uniformly from `givens`. Throws Error (failed) when
/// many boards were tried in vain.
SudokuPuzzle MakePuzzle(const SudokuShape& shape, const Range& givens, const PuzzleKey& key);

/// The lines "puzzle,solution" below a header of these words, in any case. Throws Error naming the line.
std::string_view PuzzleHeader();
std::vector<SudokuPuzzle> ParsePuzzles(std::string_view csv, const SudokuShape& shape);

}  // namespace punt
