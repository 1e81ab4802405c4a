// The task `sudoku` with players whose score is known beforehand.
#include <gtest/gtest.h>

#include <algorithm>

#include "denoise/row_model_testing.h"
#include "eval/run.h"
#include "tasks/sudoku/sudoku_board.h"
#include "tasks/tasks.h"
#include "weights/weights_testing.h"

namespace punt {
namespace {

using testing::MakeRowModel;

const std::vector<std::string> kPieces = {"1", "2", "3", "4", "\nA ", "\nB ", "\nC ", "\nD "};
constexpr int kCanvas = 1 + 4 * 5;

std::vector<double> Sure(Token token) {
  std::vector<double> row(kPieces.size() + 3, -40.0);
  row[static_cast<std::size_t>(token)] = 0;
  row[2] = -INFINITY;
  return row;
}

/// Reads the board off the canvas and plays the digit with which it can still be solved.
std::vector<double> Solve(std::span<const Token> canvas, Position position) {
  const SudokuShape shape = ShapeOfSize(4);
  SudokuBoard board;
  std::size_t blank = 0;
  for (int i = 0; i < kCanvas; ++i) {
    if (i == position) blank = board.size();
    const Token token = canvas[static_cast<std::size_t>(i)];
    if (i > 0 && i % 5 != 1) board.push_back(static_cast<std::uint8_t>(token == 2 ? 0 : token - 2));
  }
  for (int digit = 1; digit <= 4; ++digit) {
    board[blank] = static_cast<std::uint8_t>(digit);
    if (CountSolutions(shape, board, 1) == 1) return Sure(digit + 2);
  }
  return Sure(3);
}

EvalSummary Evaluate(const Model& model, const std::string& spec, std::size_t count, EvalLog* log = nullptr) {
  const auto task = MakeTask(spec, {.model = &model, .seed = 5});
  const Recipe recipe = MakeRecipe("top-k:k=3", "", {.temperature = 0}, model.denoiser->info());
  const auto records = RunItems({.task = task.get(), .model = &model, .count = count, .recipe = recipe, .log = log});
  EXPECT_EQ(records.size(), count);
  return Summarise(*task, records);
}

// Rows of a player without a clue are permutations, and no item needs more than they leave open.
TEST(Sudoku, RowsAreHeldToTheGivens) {
  const Model model = MakeRowModel(kPieces, 64, [](auto, auto) {
    std::vector<double> row(kPieces.size() + 3, 0.0);
    row[2] = -INFINITY;
    return row;
  });
  const auto run = [&](bool constrained) {
    const auto task = MakeTask("sudoku:size=4", {.model = &model, .constrained = constrained, .seed = 5});
    const Recipe recipe = MakeRecipe("top-k:k=3", "", {.temperature = 1}, model.denoiser->info());
    return RunItems({.task = task.get(), .model = &model, .count = 20, .recipe = recipe});
  };
  const auto broken = [](const std::vector<EvalRecord>& records) {
    int count = 0;
    for (const EvalRecord& record : records) {
      for (std::size_t row = 0; row < 4; ++row) {
        std::string digits = record.response.substr(4 * row, 4);
        std::sort(digits.begin(), digits.end());
        count += digits != "1234";
      }
    }
    return count;
  };
  EXPECT_EQ(broken(run(true)), 0);
  EXPECT_GT(broken(run(false)), 0);
  EXPECT_ANY_THROW(MakeTask("gsm8k", {.model = &model, .constrained = true}));
}

TEST(Sudoku, AnOracleSolvesEverything) {
  const Model model = MakeRowModel(kPieces, 64, Solve);
  for (const char* spec : {"sudoku:size=4", "sudoku:size=auto"}) {
    const EvalSummary summary = Evaluate(model, spec, 20);
    EXPECT_EQ(summary.accuracy->value, 1);
    EXPECT_EQ(summary.figures.at(0).name, "valid_cells");
    EXPECT_EQ(summary.figures.at(0).value, 1);
    EXPECT_GT(summary.nfe.value, 2);  // 8 to 11 blanks, three at a time
    EXPECT_LE(summary.nfe.value, 4);
  }
}

TEST(Sudoku, AlwaysTheSameDigitGetsItsShareOfCells) {
  const Model model = MakeRowModel(kPieces, 64, [](auto, auto) { return Sure(4); });  // digit 2
  const EvalSummary summary = Evaluate(model, "sudoku:size=4", 300);
  EXPECT_EQ(summary.accuracy->value, 0);
  EXPECT_NEAR(summary.figures.at(0).value, 0.25, 0.02);
  const Model no_digit = MakeRowModel(kPieces, 64, [](auto, auto) { return Sure(8); });
  EXPECT_EQ(Evaluate(no_digit, "sudoku:size=4", 5).figures.at(0).value, 0);
}

TEST(Sudoku, TheCanvasIsLabelsAndDigits) {
  const Model model = MakeRowModel(kPieces, 64, Solve);
  const auto task = MakeTask("sudoku:size=4,fewest=6,most=6", {.model = &model, .seed = 5});
  const EvalItem item = task->Item(3);
  ASSERT_EQ(item.canvas.size(), static_cast<std::size_t>(kCanvas));
  EXPECT_EQ(item.canvas[0], 0);
  EXPECT_EQ(std::count(item.canvas.begin(), item.canvas.end(), 2), 10);
  std::string text;
  for (std::size_t i = 1; i < item.canvas.size(); ++i) {
    text += item.canvas[i] == 2 ? "0" : model.tokenizer->Piece(item.canvas[i]);
  }
  const std::string& p = item.prompt;
  EXPECT_EQ(text, "\nA " + p.substr(0, 4) + "\nB " + p.substr(4, 4) + "\nC " + p.substr(8, 4) + "\nD " + p.substr(12));
  // The puzzles of `punt puzzles` with the same seed.
  EXPECT_EQ(p, BoardText(MakePuzzle(ShapeOfSize(4), {6, 6}, {.seed = 5, .index = 3}).puzzle));
}

TEST(Sudoku, RefusesVocabulariesThatCannotSpellABoard) {
  const Model small = MakeRowModel(kPieces, 64, Solve);
  EXPECT_THROW(MakeTask("sudoku", {.model = &small}), Error);
  const Model no_label = MakeRowModel({"1", "2", "3", "4", "\nA "}, 64, Solve);
  EXPECT_THROW(MakeTask("sudoku:size=4", {.model = &no_label}), Error);
  EXPECT_THROW(MakeTask("sudoku:size=4", {}), Error);
  EXPECT_THROW(MakeTask("sudoku:size=4", {.model = &small, .judge = "j"}), Error);
  EXPECT_THROW(MakeTask("sudoku:size=4", {.model = &small, .length = 3}), Error);
  EXPECT_THROW(MakeTask("sudoku:size=4,fewest=9", {.model = &small}), Error);
}

TEST(EvalLog, ResumesEqualConfigurationsOnly) {
  const testing::TempFolder temp;
  const Model model = MakeRowModel(kPieces, 64, [](std::span<const Token> canvas, Position position) {
    return position % 2 == 0 ? Solve(canvas, position) : Sure(4);
  });
  const Configuration configuration = {{"task", "t"}, {"seed", "5"}};
  const EvalSummary whole = Evaluate(model, "sudoku:size=4", 6);
  {
    EvalLog log(temp / "run", configuration);
    Evaluate(model, "sudoku:size=4", 3, &log);
    EXPECT_THROW(EvalLog(temp / "run", configuration), Error);  // in use
  }
  // The third line is cut off, as by a crash.
  const auto items = temp / "run" / "items.jsonl";
  std::filesystem::resize_file(items, std::filesystem::file_size(items) - 9);
  {
    EvalLog log(temp / "run", configuration);
    EXPECT_EQ(log.resumed().size(), 2u);
    const EvalSummary summary = Evaluate(model, "sudoku:size=4", 6, &log);
    EXPECT_EQ(summary.figures.at(0).value, whole.figures.at(0).value);
    EXPECT_EQ(summary.nfe.value, whole.nfe.value);
    EXPECT_GT(summary.figures.at(0).value, 0.3);
    EXPECT_LT(summary.figures.at(0).value, 1);
  }
  EXPECT_EQ(EvalLog(temp / "run", configuration).resumed().size(), 6u);
  const auto size = std::filesystem::file_size(items);
  try {
    EvalLog(temp / "run", {{"task", "t"}, {"seed", "6"}, {"more", "x"}});
    ADD_FAILURE() << "another configuration was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    EXPECT_NE(std::string(error.what()).find("seed is 5 there and 6 here; more is nothing there and x here"),
              std::string::npos)
        << error.what();
  }
  EXPECT_EQ(std::filesystem::file_size(items), size);
}

TEST(EvalLog, RecordsComeBackAsTheyWere) {
  const EvalRecord record{.id = "7",
                          .prompt = "a\n\"b",
                          .response = "\xff z",
                          .verdict = {{"x", 0.1}, {"y", 1e-300}},
                          .base_passes = 3,
                          .test_passes = 4,
                          .steps = 2,
                          .seconds = 0.3,
                          .stop = "full"};
  const EvalRecord back = ParseRecord(RecordLine(record));
  EXPECT_EQ(back.prompt, record.prompt);
  EXPECT_EQ(back.verdict, record.verdict);
  EXPECT_EQ(back.nfe(), 7);
  EXPECT_EQ(RecordLine(ParseRecord(RecordLine(back))), RecordLine(record));
  EXPECT_THROW(ParseRecord("{\"id\":3}"), Error);
  EXPECT_THROW(ParseRecord("nonsense"), Error);
}

}  // namespace
}  // namespace punt
