// Task `sudoku`: complete a board. The canvas is what the tokenizer puts before a text, then for every row its label
// "\nA ", "\nB ", ... and one digit token per cell, blanks masked. A board counts as correct when every cell is the
// solution's; `valid_cells` is the share of the generated cells that are.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/check.h"
#include "report/data_file.h"
#include "tasks/sudoku/sudoku_board.h"
#include "tasks/sudoku/sudoku_language.h"
#include "tasks/task_rows.h"

namespace punt {
namespace {

constexpr std::size_t kUsualCount = 200;

/// The tokens of a board's labels and digits in one vocabulary.
struct BoardTokens {
  std::vector<Token> prefix;
  std::vector<std::vector<Token>> labels;
  std::vector<Token> digits;  // of 1..size
};

std::string Label(int row) { return fmt::format("\n{} ", static_cast<char>('A' + row)); }

std::vector<Token> EncodePart(const std::string& text, const Model& model) {
  try {
    return model.tokenizer->Encode(text);
  } catch (const Error& error) {
    BadInput("{} cannot spell a sudoku board: {}", model.name, error.what());
  }
}

/// Throws Error naming the first label or digit that the vocabulary does not hold.
BoardTokens FindBoardTokens(const SudokuShape& shape, const Model& model) {
  BoardTokens tokens{.prefix = model.tokenizer->Prefix()};
  std::set<Token> digits;
  std::set<std::vector<Token>> labels;
  for (int i = 0; i < shape.size; ++i) {
    tokens.labels.push_back(EncodePart(Label(i), model));
    if (tokens.labels.back().empty() || !labels.insert(tokens.labels.back()).second) {
      BadInput("{} does not know the label of row {}", model.name, static_cast<char>('A' + i));
    }
    const std::vector<Token> digit = EncodePart(fmt::format("{}", i + 1), model);
    if (digit.size() != 1 || !digits.insert(digit[0]).second) {
      BadInput("{} has no token of its own for the digit {}", model.name, i + 1);
    }
    tokens.digits.push_back(digit[0]);
  }
  return tokens;
}

/// The largest board whose labels and digits the vocabulary holds.
SudokuShape LargestShape(const Model& model) {
  for (int size : {9, 6}) {
    try {
      FindBoardTokens(ShapeOfSize(size), model);
      return ShapeOfSize(size);
    } catch (const Error&) {
      // A vocabulary of smaller boards.
    }
  }
  return ShapeOfSize(4);
}

class SudokuTask : public Task {
 public:
  SudokuTask(const Params& params, const TaskSetup& setup)
      : model_(*setup.model),
        seed_(setup.seed),
        constrained_(setup.constrained),
        shape_(params.Choice("size") == "auto" ? LargestShape(*setup.model)
                                               : ShapeOfSize(std::stoi(params.Choice("size")))),
        givens_(UsualGivens(shape_)),
        tokens_(FindBoardTokens(shape_, *setup.model)) {
    if (setup.length) BadInput("task sudoku takes no length: the board has one");
    if (params.Integer("fewest") > 0) givens_.min = params.Integer("fewest");
    if (params.Integer("most") > 0) givens_.max = params.Integer("most");
    RequireGivens(shape_, givens_);
    if (setup.data.empty()) return;
    try {
      given_ = ParsePuzzles(ReadDataFile(setup.data), shape_);
      if (given_.empty()) BadInput("there are no puzzles");
    } catch (const Error& error) {
      BadInput("{}: {}", setup.data, error.what());
    }
  }

  std::size_t size() const override { return given_.size(); }
  std::size_t usual_count() const override { return given_.empty() ? kUsualCount : given_.size(); }

  EvalItem Item(std::size_t index) const override {
    const SudokuPuzzle puzzle =
        given_.empty() ? MakePuzzle(shape_, givens_, {.seed = seed_, .index = index}) : given_[index];
    EvalItem item{.id = fmt::format("{}", index),
                  .prompt = BoardText(puzzle.puzzle),
                  .canvas = tokens_.prefix,
                  .reference = BoardText(puzzle.solution)};
    for (int row = 0; row < shape_.size; ++row) {
      const std::vector<Token>& label = tokens_.labels[static_cast<std::size_t>(row)];
      item.canvas.insert(item.canvas.end(), label.begin(), label.end());
      for (int column = 0; column < shape_.size; ++column) {
        const int cell = row * shape_.size + column;
        const int digit = puzzle.puzzle[static_cast<std::size_t>(cell)];
        item.canvas.push_back(digit == 0 ? model_.denoiser->info().mask_token
                                         : tokens_.digits[static_cast<std::size_t>(digit - 1)]);
      }
    }
    if (constrained_) {
      std::vector<std::string> labels;
      for (int row = 0; row < shape_.size; ++row) labels.push_back(Label(row));
      item.language = RowLanguage(shape_, puzzle.puzzle, labels);
      item.language_begin = tokens_.prefix.size();
      item.language_end = item.canvas.size();
    }
    return item;
  }

  /// The board in one line, with '?' for anything but a digit.
  std::string ResponseText(const EvalItem&, std::span<const Token> tokens) const override {
    std::string text;
    std::size_t position = tokens_.prefix.size();
    for (const std::vector<Token>& label : tokens_.labels) {
      position += label.size();
      for (int column = 0; column < shape_.size; ++column) text += DigitOf(tokens[position++]);
    }
    return text;
  }

  Measurement Judge(std::size_t, const EvalItem& item, const EvalResponse& response) override {
    int blanks = 0;
    int right = 0;
    for (std::size_t cell = 0; cell < item.prompt.size(); ++cell) {
      if (item.prompt[cell] != '0') continue;
      ++blanks;
      right += response.text[cell] == item.reference[cell] ? 1 : 0;
    }
    return {{kCorrect, response.text == item.reference ? 1 : 0},
            {"blanks", blanks},
            {"valid_cells", blanks == 0 ? 1.0 : static_cast<double>(right) / blanks}};
  }

  std::vector<Figure> Summarise(std::span<const EvalRecord> records) const override {
    std::vector<double> valid;
    for (const EvalRecord& record : records) valid.push_back(record.verdict.at("valid_cells"));
    return {FigureOf("valid_cells", MeanOf(valid, kShares))};
  }

 private:
  char DigitOf(Token token) const {
    const auto found = std::find(tokens_.digits.begin(), tokens_.digits.end(), token);
    return found == tokens_.digits.end() ? '?' : static_cast<char>('1' + (found - tokens_.digits.begin()));
  }

  const Model& model_;
  std::uint64_t seed_;
  bool constrained_;
  SudokuShape shape_;
  Range givens_;
  BoardTokens tokens_;
  std::vector<SudokuPuzzle> given_;
};

const ParamRow kParams[] = {
    {.key = "size",
     .kind = ParamKind::kChoice,
     .default_value = "9",
     .help = "rows of the board; auto: the most whose labels and digits the model knows",
     .choices = {"9", "6", "4", "auto"}},
    {.key = "fewest",
     .kind = ParamKind::kInteger,
     .default_value = "0",
     .help = "fewest givens of a fresh puzzle (0: 36, 12 or 5 by size)",
     .min = 0,
     .max = 81},
    {.key = "most",
     .kind = ParamKind::kInteger,
     .default_value = "0",
     .help = "most givens of a fresh puzzle (0: 46, 18 or 8 by size)",
     .min = 0,
     .max = 81},
};

}  // namespace

const TaskRow kSudokuRow = {.name = "sudoku",
                            .summary = "complete sudoku boards that have one solution",
                            .data_help = "fresh puzzles from the seed, or a CSV file with a header puzzle,solution",
                            .params = kParams,
                            .takes_data = true,
                            .has_language = true,
                            .quality = kAccuracy,
                            .model_kind = "sudoku boards",
                            .bundled_model = "sudoku",
                            .make = [](const Params& params, const TaskSetup& setup) -> std::unique_ptr<Task> {
                              return std::make_unique<SudokuTask>(params, setup);
                            }};

}  // namespace punt
