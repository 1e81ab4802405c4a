// Latin squares, sums and numbers in order.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "constrain/byte_automaton.h"
#include "punt/random.h"
#include "tasks/questions/question.h"

namespace punt {

std::span<const QuestionKind> PuzzleKinds();

/// In our wording: of four different symbols.
std::string LatinSquarePrompt(std::span<const std::string> symbols);

/// Lines of symbols with commas, each symbol once per row and column.
bool IsLatinSquare(std::span<const std::string> symbols, std::string_view answer);

/// A square is any of the 576 with its symbols, all equally likely.
Question MakePuzzleQuestion(std::string_view kind, RandomStream& random);

/// Of a latin square: rows that are permutations of its symbols. Null for others.
std::shared_ptr<const ByteAutomaton> PuzzleLanguage(const Question& question);

bool IsRightPuzzle(const Question& question, std::string_view answer);

}  // namespace punt
