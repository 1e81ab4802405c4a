#include "app/sudoku_request.h"

#include <fmt/format.h>

#include <filesystem>

namespace punt {
namespace {

constexpr int kSizes[] = {9, 6, 4};

bool IsBlank(char c) { return c == '0' || c == '.'; }

bool IsBoard(std::string_view puzzle, int size) {
  if (static_cast<int>(puzzle.size()) != size * size) return false;
  for (char c : puzzle) {
    if (!IsBlank(c) && (c < '1' || c > '0' + size)) return false;
  }
  return true;
}

}  // namespace

std::optional<std::string> BoardInfill(std::string_view puzzle) {
  for (int size : kSizes) {
    if (!IsBoard(puzzle, size)) continue;
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
      const char c = puzzle[static_cast<std::size_t>(cell)];
      if (IsBlank(c)) {
        ++blanks;
        continue;
      }
      close_hole();
      text += c;
    }
    close_hole();
    return text;
  }
  return std::nullopt;
}

std::string EmptyBoard(const Model& model) {
  // Every row takes a label and its cells; the largest board that fits is the one that the model was trained on.
  for (int size : kSizes) {
    if (size * (size + 1) <= model.denoiser->info().max_length) {
      return *BoardInfill(std::string(static_cast<std::size_t>(size * size), '0'));
    }
  }
  return *BoardInfill(std::string(16, '0'));
}

bool IsSudokuModel(const Model& model) {
  return std::filesystem::path(model.name).stem().string().starts_with("sudoku");
}

}  // namespace punt
