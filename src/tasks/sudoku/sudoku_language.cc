// The permutations of a row are not listed: an automaton needs a state for each set of digits that stand in the cells
// so far, at most 2^9 for a row, where there may be 9! permutations.
//
// Tested by sudoku_language_test.cc, against listing them.
#include "tasks/sudoku/sudoku_language.h"

#include <array>
#include <bit>
#include <map>
#include <span>

#include "constrain/pattern.h"

namespace punt {
namespace {

using State = ByteAutomaton::State;
using Digits = unsigned;  // a bit for each

/// What each cell may hold.
std::vector<Digits> Allowed(const SudokuShape& shape, const SudokuBoard& puzzle) {
  const auto size = static_cast<std::size_t>(shape.size);
  std::vector<Digits> rows(size), columns(size), boxes(size);
  const auto bit = [](int digit) { return Digits{1} << (digit - 1); };
  const auto box_of = [&](int row, int column) { return static_cast<std::size_t>(shape.BoxOf(row, column)); };
  for (int cell = 0; cell < shape.cells(); ++cell) {
    const int digit = puzzle[static_cast<std::size_t>(cell)];
    if (digit == 0) continue;
    rows[static_cast<std::size_t>(cell / shape.size)] |= bit(digit);
    columns[static_cast<std::size_t>(cell % shape.size)] |= bit(digit);
    boxes[box_of(cell / shape.size, cell % shape.size)] |= bit(digit);
  }
  std::vector<Digits> allowed;
  for (int cell = 0; cell < shape.cells(); ++cell) {
    const int row = cell / shape.size, column = cell % shape.size, digit = puzzle[static_cast<std::size_t>(cell)];
    const Digits taken =
        rows[static_cast<std::size_t>(row)] | columns[static_cast<std::size_t>(column)] | boxes[box_of(row, column)];
    allowed.push_back(digit != 0 ? bit(digit) : ~taken & (bit(shape.size + 1) - 1));
  }
  return allowed;
}

ByteAutomaton Permutations(std::span<const Digits> allowed) {
  const std::size_t size = allowed.size(), kinds = size + 1;
  std::array<std::uint8_t, 256> kind_of = {};
  for (std::size_t i = 0; i < size; ++i) kind_of[static_cast<std::size_t>('1') + i] = static_cast<std::uint8_t>(i + 1);
  std::map<Digits, State> number = {{0, 0}};  // of sets: how many digits they have says how many cells are filled
  std::vector<Digits> order = {0};
  std::vector<State> next;
  std::vector<bool> accepts;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Digits used = order[i];
    const auto filled = static_cast<std::size_t>(std::popcount(used));
    accepts.push_back(filled == size);
    next.resize((i + 1) * kinds, ByteAutomaton::kDead);
    for (std::size_t digit = 0; digit < size && filled < size; ++digit) {
      const Digits one = Digits{1} << digit;
      if ((used & one) != 0 || (allowed[filled] & one) == 0) continue;
      const auto [found, is_new] = number.try_emplace(used | one, static_cast<State>(order.size()));
      if (is_new) order.push_back(used | one);
      next[i * kinds + digit + 1] = found->second;
    }
  }
  return ByteAutomaton::Minimal(kind_of, kinds, std::move(next), std::move(accepts));
}

}  // namespace

std::shared_ptr<const ByteAutomaton> RowLanguage(const SudokuShape& shape, const SudokuBoard& puzzle,
                                                 const std::vector<std::string>& labels) {
  const std::vector<Digits> allowed = Allowed(shape, puzzle);
  const auto size = static_cast<std::size_t>(shape.size);
  std::vector<PatternRef> rows;
  for (std::size_t row = 0; row < size; ++row) {
    rows.push_back(Bytes(labels[row]));
    rows.push_back(
        Accepted(std::make_shared<const ByteAutomaton>(Permutations(std::span(allowed).subspan(row * size, size)))));
  }
  return std::make_shared<const ByteAutomaton>(Compile(Sequence(std::move(rows)), "the rows of the board"));
}

}  // namespace punt
