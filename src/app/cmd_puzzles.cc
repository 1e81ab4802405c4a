// punt puzzles: fresh sudoku puzzles with one solution each, to train and to test on.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "app/command.h"
#include "app/options.h"
#include "app/sweep_progress.h"
#include "app/terminal.h"
#include "base/atomic_file.h"
#include "base/check.h"
#include "tasks/sudoku/sudoku_board.h"

namespace punt {
namespace {

constexpr std::int64_t kMostPuzzles = 100'000'000;
constexpr std::uint64_t kProgressEvery = 256;

struct PuzzleFlags {
  std::int64_t size = 9;
  std::string givens;
  std::int64_t count = 200;
  std::uint64_t seed = 0;
  std::uint64_t first = 0;
  std::string out = "-";
};

/// "36-46" or "40".
Range ParseGivens(std::string_view text, const SudokuShape& shape) {
  const std::size_t dash = text.find('-');
  const auto read = [](std::string_view part) { return static_cast<int>(ParseInteger(part, "--givens", 1, 81)); };
  const Range givens = dash == std::string_view::npos ? Range{read(text), read(text)}
                                                      : Range{read(text.substr(0, dash)), read(text.substr(dash + 1))};
  RequireGivens(shape, givens);
  return givens;
}

int Run(const PuzzleFlags& flags) {
  const SudokuShape shape = ShapeOfSize(static_cast<int>(flags.size));
  const Range givens = flags.givens.empty() ? UsualGivens(shape) : ParseGivens(flags.givens, shape);
  const std::atomic<bool>& cancel = InstallInterruptHandlers();
  std::optional<AtomicFile> file;
  if (flags.out != "-") file.emplace(flags.out);
  const auto write = [&](const std::string& text) {
    if (file) {
      file->Write(std::as_bytes(std::span(text)));
    } else {
      std::fwrite(text.data(), 1, text.size(), stdout);
    }
  };
  write(fmt::format("{}\n", PuzzleHeader()));
  const auto count = static_cast<std::uint64_t>(flags.count);
  SweepProgress progress(count, "puzzles");
  for (std::uint64_t i = 0; i < count; ++i) {
    if (cancel.load() || std::ferror(stdout)) break;
    if (i % kProgressEvery == 0 && (file || !IsTerminal(stdout))) progress.Show(i);
    const SudokuPuzzle puzzle = MakePuzzle(shape, givens, {.seed = flags.seed, .index = flags.first + i});
    write(fmt::format("{},{}\n", BoardText(puzzle.puzzle), BoardText(puzzle.solution)));
  }
  progress.Clear();
  if (WasInterrupted()) return kInterruptedExit;
  if (file) file->Commit();
  return 0;
}

}  // namespace

Runner AddPuzzles(CLI::App& command) {
  const auto flags = std::make_shared<PuzzleFlags>();
  AddInteger(command, "--size", flags->size, 4, 9, "Rows of the board: 9, 6 or 4")->default_str("9");
  command.add_option("--givens", flags->givens,
                     "Filled cells, N or N-M, drawn uniformly; default: 36-46, 12-18 or 5-8 by size");
  AddInteger(command, "--count", flags->count, 1, kMostPuzzles, "Number of puzzles")->default_str("200");
  AddSeed(command, "--seed", flags->seed, "Seed of all random numbers");
  AddSeed(command, "--first", flags->first, "Number of the first puzzle");
  command.add_option("--out", flags->out, "File; -: the standard output")->capture_default_str();
  command.footer(
      "Writes CSV: a header puzzle,solution, then a line each; 0 is a blank. Every puzzle has exactly one solution.\n"
      "Puzzle i of a seed is the same in any run. `punt eval sudoku` with the same seed uses the same puzzles: train "
      "on\n"
      "another seed.\n\n"
      "Examples:\n  punt puzzles --count 5\n"
      "  punt puzzles --size 6 --givens 12-18 --count 10000 --seed 1 --out train.csv");
  return [flags] { return Run(*flags); };
}

}  // namespace punt
