// The items of ParallelBench (Kang et al. 2025, arXiv 2510.04767), in the layout of its repository:
// waiting_line/KIND.jsonl, puzzle/latin_square_n4.jsonl, puzzle/sudoku_n4_12.jsonl, and in either folder
// task_config.yaml with the prompts. None of it is shipped.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/questions/question.h"

namespace punt {

/// What fills the gaps of a prompt.
using PromptValues = std::map<std::string, std::string, std::less<>>;

struct ParallelBenchCase {
  PromptValues values;  // context, word, index; size, symbols; sudoku: as text
  std::string answer;   // the data's own example of a right one
};

struct ParallelBenchItem {
  std::string kind;
  ParallelBenchCase asked;
  std::vector<ParallelBenchCase> shown;  // worked examples
  std::vector<std::string> input;        // people of the line, or symbols, if the kind is judged by them
};

/// The kinds, waiting lines first. Sudoku has no question in our own wording.
std::span<const QuestionKind> ParallelBenchKinds();
inline constexpr std::string_view kSudokuKind = "sudoku";
inline constexpr std::string_view kLatinSquareKind = "latin_square";

/// The data of a kind; throws Error naming the file and the line.
std::vector<ParallelBenchItem> ReadParallelBench(const std::filesystem::path& folder, std::string_view kind);

/// The benchmark's own prompt of a kind, with gaps as {context}.
std::string ReadParallelBenchPrompt(const std::filesystem::path& folder, std::string_view kind);

/// A prompt with its gaps filled. Throws Error naming a gap without a value.
std::string FillPrompt(std::string_view prompt, const PromptValues& values);

/// The same question in our wording (docs/tasks.md).
std::string OwnPrompt(const ParallelBenchItem& item);

}  // namespace punt
