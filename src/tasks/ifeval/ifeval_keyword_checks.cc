#include <algorithm>

#include "tasks/ifeval/ifeval_check_functions.h"
#include "tasks/ifeval/unicode_text.h"

namespace punt::ifeval {

bool Existence(const IfevalInstruction& instruction, std::u32string_view text, const IfevalTools&) {
  return std::all_of(instruction.texts.begin(), instruction.texts.end(),
                     [text](const std::u32string& keyword) { return FindIgnoringCase(text, keyword) != text.npos; });
}

bool ForbiddenWords(const IfevalInstruction& instruction, std::u32string_view text, const IfevalTools&) {
  return std::none_of(instruction.texts.begin(), instruction.texts.end(), [text](const std::u32string& word) {
    for (std::size_t at = 0; (at = FindIgnoringCase(text, word, at)) != text.npos; ++at) {
      if (IsWordBoundary(text, at) && IsWordBoundary(text, at + word.size())) return true;
    }
    return false;
  });
}

bool KeywordFrequency(const IfevalInstruction& instruction, std::u32string_view text, const IfevalTools&) {
  const std::u32string_view keyword = Strip(instruction.texts[0]);
  std::size_t count = 0;
  for (std::size_t at = 0; (at = FindIgnoringCase(text, keyword, at)) != text.npos; at += keyword.size()) ++count;
  return Compares(instruction, count);
}

bool LetterFrequency(const IfevalInstruction& instruction, std::u32string_view text, const IfevalTools&) {
  const std::u32string lower = Lower(text);
  const std::u32string letter = Lower(instruction.texts[0]);
  return Compares(instruction, SplitAt(lower, letter).size() - 1);
}

bool NoComma(const IfevalInstruction&, std::u32string_view text, const IfevalTools&) {
  return text.find(',') == text.npos;
}

}  // namespace punt::ifeval
