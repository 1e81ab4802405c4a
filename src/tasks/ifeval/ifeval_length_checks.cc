#include <algorithm>

#include "tasks/ifeval/ifeval_check_functions.h"
#include "tasks/ifeval/unicode_text.h"

namespace punt::ifeval {

bool NumberSentences(const IfevalInstruction& instruction, std::u32string_view text, const IfevalTools& tools) {
  return Compares(instruction, tools.punkt.Sentences(text).size());
}

bool NumberWords(const IfevalInstruction& instruction, std::u32string_view text, const IfevalTools&) {
  return Compares(instruction, CountWordRuns(text));
}

// Paragraphs with *** between them, also at the ends; two dividers with nothing between them are a fault.
bool NumberParagraphs(const IfevalInstruction& instruction, std::u32string_view text, const IfevalTools&) {
  std::vector<std::u32string_view> paragraphs = SplitAt(text, U"***");
  if (IsBlank(paragraphs.back())) paragraphs.pop_back();
  if (!paragraphs.empty() && IsBlank(paragraphs.front())) paragraphs.erase(paragraphs.begin());
  const bool whole = std::none_of(paragraphs.begin(), paragraphs.end(), IsBlank);
  return whole && static_cast<long>(paragraphs.size()) == instruction.number;
}

// Paragraphs with a blank line between them. Blank ones are not counted, but do count for which is the nth. The first
// word is compared without quotes before it and up to the first punctuation mark.
bool NthParagraphFirstWord(const IfevalInstruction& instruction, std::u32string_view text, const IfevalTools&) {
  const std::vector<std::u32string_view> paragraphs = SplitAt(text, U"\n\n");
  const auto count =
      paragraphs.size() - static_cast<std::size_t>(std::count_if(paragraphs.begin(), paragraphs.end(), IsBlank));
  const auto nth = static_cast<std::size_t>(instruction.paragraph);
  if (static_cast<long>(count) != instruction.number || nth > count) return false;
  const std::vector<std::u32string_view> words = SplitWords(paragraphs[nth - 1]);
  if (words.empty()) return false;
  std::u32string_view first = words[0];
  for (char32_t quote : {U'\'', U'"'}) first.remove_prefix(std::min(first.find_first_not_of(quote), first.size()));
  return Lower(first.substr(0, first.find_first_of(U".,?!'\""))) == Lower(instruction.texts[0]);
}

}  // namespace punt::ifeval
