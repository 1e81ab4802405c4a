// What is known of a right sudoku board before it is filled.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "constrain/byte_automaton.h"
#include "tasks/sudoku/sudoku_board.h"

namespace punt {

/// Boards whose rows are permutations that agree with the givens: with those of the row, and with none of the column or
/// the box. Each row is written behind its label, a digit per cell. Throws NoText when a row has none.
std::shared_ptr<const ByteAutomaton> RowLanguage(const SudokuShape& shape, const SudokuBoard& puzzle,
                                                 const std::vector<std::string>& labels);

}  // namespace punt
