// How ParallelBench judges answers: less strictly than our own checkers, which check every character.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/questions/parallelbench_items.h"

namespace punt {

struct ParallelBenchVerdict {
  bool loose = false;   // the benchmark's score
  bool strict = false;  // the list must be written "name", "name" (a latin square has no stricter rule)
};

/// The list after the last '[' up to the next ']', split at commas, with quotes and blanks stripped from the names;
/// strictly, both brackets and "name", "name" exactly, else none.
std::optional<std::vector<std::string>> ParseNameList(std::string_view text, bool strict);

ParallelBenchVerdict JudgeParallelBench(const ParallelBenchItem& item, std::string_view answer);

}  // namespace punt
