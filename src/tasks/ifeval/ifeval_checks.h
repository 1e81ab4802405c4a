// The 25 kinds of instructions of IFEval (Zhou et al. 2023, "Instruction-Following Evaluation for Large Language
// Models"): what an instruction of each kind says as data, and whether a text follows it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/ifeval/language_detector.h"
#include "tasks/ifeval/punkt.h"

namespace punt {

struct IfevalCheckRow;

/// One instruction of a prompt. Its kind says which of the arguments it has.
struct IfevalInstruction {
  const IfevalCheckRow* check = nullptr;
  long number = 0;                    // a threshold or an exact count
  bool at_least = true;               // or less than
  std::vector<std::u32string> texts;  // keywords, a phrase, a language, ...
  long paragraph = 0;                 // from 1
};

/// What checks need besides the text. Refers to its parts.
struct IfevalTools {
  const Punkt& punkt;
  const LanguageDetector& languages;
};

/// A kind of instruction. Names of arguments are those of the data; an empty one is an argument it does not have.
struct IfevalCheckRow {
  std::string_view id;
  /// `text` is not blank.
  bool (*follows)(const IfevalInstruction& instruction, std::u32string_view text, const IfevalTools& tools);
  std::string_view number;
  std::string_view relation;
  std::string_view texts;
  std::string_view paragraph;
};

/// All kinds, by id.
std::span<const IfevalCheckRow> IfevalChecks();
/// Null if there is none with this id.
const IfevalCheckRow* FindIfevalCheck(std::string_view id);

/// The relation of an instruction to its number.
bool Compares(const IfevalInstruction& instruction, std::size_t count);

}  // namespace punt
