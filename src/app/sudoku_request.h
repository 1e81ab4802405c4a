// What `punt generate` does for sudoku models: the canvas is a board, not a run of digits.
#pragma once

#include <string>
#include <string_view>

#include "punt/model.h"

namespace punt {

/// The board of a puzzle as a text with holes, in the lines that models are trained on ("A 53[MASK:2]7..."): one
/// character per cell, row by row, 0 or . for a blank, white space ignored. Throws Error on a text that is not a board
/// of 81, 36 or 16 cells, and on givens that break a rule, naming the cells.
std::string BoardInfill(std::string_view puzzle);

/// An empty board of the model's size.
std::string EmptyBoard(const Model& model);

/// By its name: a file cannot say what its digits mean.
bool IsSudokuModel(const Model& model);

}  // namespace punt
