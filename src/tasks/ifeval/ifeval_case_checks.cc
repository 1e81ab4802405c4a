#include <algorithm>

#include "tasks/ifeval/ifeval_check_functions.h"
#include "tasks/ifeval/treebank_words.h"
#include "tasks/ifeval/unicode_text.h"
#include "text/utf8.h"

namespace punt::ifeval {
namespace {

/// A text whose language cannot be identified counts as being in any language.
bool IsIn(const IfevalTools& tools, std::u32string_view text, std::string_view language) {
  return tools.languages.Detect(text).value_or(std::string(language)) == language;
}

}  // namespace

bool CapitalWordFrequency(const IfevalInstruction& instruction, std::u32string_view text, const IfevalTools& tools) {
  const std::vector<std::u32string> words = TreebankWords(text, tools.punkt);
  const auto capital = std::count_if(words.begin(), words.end(), IsUpperText);
  return Compares(instruction, static_cast<std::size_t>(capital));
}

bool EnglishCapital(const IfevalInstruction&, std::u32string_view text, const IfevalTools& tools) {
  return IsUpperText(text) && IsIn(tools, text, "en");
}

bool EnglishLowercase(const IfevalInstruction&, std::u32string_view text, const IfevalTools& tools) {
  return IsLowerText(text) && IsIn(tools, text, "en");
}

bool ResponseLanguage(const IfevalInstruction& instruction, std::u32string_view text, const IfevalTools& tools) {
  std::string language;
  for (char32_t code : instruction.texts[0]) AppendUtf8(code, language);
  return IsIn(tools, text, language);
}

}  // namespace punt::ifeval
