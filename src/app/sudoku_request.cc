#include "app/sudoku_request.h"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "app/glyphs.h"
#include "base/check.h"
#include "base/trim.h"
#include "tasks/sudoku/sudoku_board.h"
#include "text/utf8.h"

namespace punt {
namespace {

constexpr int kSizes[] = {9, 6, 4};

bool IsBlank(char c) { return c == '0' || c == '.'; }

/// The cells of a text, one character each.
std::vector<std::string_view> CellsOf(std::string_view text) {
  RequireUtf8(text);
  std::vector<std::string_view> cells;
  while (!text.empty()) {
    const std::string_view character = text.substr(0, CharacterBytes(text));
    if (kWhiteSpace.find(character[0]) == std::string_view::npos) cells.push_back(character);
    text.remove_prefix(character.size());
  }
  return cells;
}

SudokuShape ShapeOf(std::size_t cells) {
  for (int size : kSizes) {
    if (static_cast<std::size_t>(size * size) == cells) return ShapeOfSize(size);
  }
  BadInput("the prompt is not a puzzle: it has {} characters, a board 81 (or 36, 16) digits, 0 or . for a blank",
           cells);
}

SudokuBoard ReadPuzzle(std::string_view puzzle) {
  const std::vector<std::string_view> cells = CellsOf(puzzle);
  const SudokuShape shape = ShapeOf(cells.size());
  SudokuBoard board;
  for (std::string_view cell : cells) {
    const bool is_blank = IsBlank(cell[0]);
    if (!is_blank && (cell.size() > 1 || cell[0] < '1' || cell[0] > '0' + shape.size)) {
      const int at = static_cast<int>(board.size());
      BadInput("the puzzle has '{}' in row {}, column {}: cells are 1 to {}, 0 or . for a blank", SafeText(cell),
               at / shape.size + 1, at % shape.size + 1, shape.size);
    }
    board.push_back(is_blank ? 0 : static_cast<std::uint8_t>(cell[0] - '0'));
  }
  if (const std::string broken = BrokenRule(shape, board); !broken.empty()) {
    BadInput("the puzzle contradicts itself: {}", broken);
  }
  return board;
}

std::string BoardLines(const SudokuBoard& board, int size) {
  std::string text;
  int blanks = 0;
  const auto close_hole = [&] {
    if (blanks > 0) text += fmt::format("[MASK:{}]", blanks);
    blanks = 0;
  };
  for (int cell = 0; cell < size * size; ++cell) {
    if (cell % size == 0) {
      close_hole();
      text += fmt::format("\n{} ", static_cast<char>('A' + cell / size));
    }
    const int digit = board[static_cast<std::size_t>(cell)];
    if (digit == 0) {
      ++blanks;
      continue;
    }
    close_hole();
    text += static_cast<char>('0' + digit);
  }
  close_hole();
  return text;
}

}  // namespace

std::string BoardInfill(std::string_view puzzle) {
  const SudokuBoard board = ReadPuzzle(puzzle);
  return BoardLines(board, ShapeOf(board.size()).size);
}

std::string EmptyBoard(const Model& model) {
  // Every row takes a label and its cells; the largest board that fits is the one that the model was trained on.
  for (int size : kSizes) {
    if (size * (size + 1) <= model.denoiser->info().max_length) {
      return BoardInfill(std::string(static_cast<std::size_t>(size * size), '0'));
    }
  }
  return BoardInfill(std::string(16, '0'));
}

bool IsSudokuModel(const Model& model) {
  return std::filesystem::path(model.name).stem().string().starts_with("sudoku");
}

}  // namespace punt
