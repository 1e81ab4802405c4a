#include <algorithm>

#include "tasks/ifeval/ifeval_check_functions.h"
#include "tasks/ifeval/unicode_text.h"

namespace punt::ifeval {
namespace {

/// Whether `parts` occur one after another, with at most one white space between two of them.
bool Occurs(std::u32string_view text, std::initializer_list<std::u32string_view> parts) {
  for (std::size_t begin = 0; begin < text.size(); ++begin) {
    std::u32string_view rest = text.substr(begin);
    bool matches = true;
    for (std::u32string_view part : parts) {
      const bool is_first = rest.size() == text.size() - begin;
      if (!is_first && !rest.empty() && IsSpace(rest[0])) rest.remove_prefix(1);
      matches = matches && rest.starts_with(part);
      rest.remove_prefix(matches ? part.size() : 0);
    }
    if (matches) return true;
  }
  return false;
}

}  // namespace

bool ConstrainedResponse(const IfevalInstruction&, std::u32string_view text, const IfevalTools&) {
  const auto answers = {U"My answer is yes.", U"My answer is no.", U"My answer is maybe."};
  return std::any_of(answers.begin(), answers.end(),
                     [text](std::u32string_view answer) { return text.find(answer) != text.npos; });
}

// Anywhere, in either case; the two usual markers also with a space between their letters.
bool Postscript(const IfevalInstruction& instruction, std::u32string_view text, const IfevalTools&) {
  const std::u32string lower = Lower(text);
  const std::u32string_view marker = Strip(instruction.texts[0]);
  if (marker == U"P.P.S") return Occurs(lower, {U"p.", U"p.", U"s"});
  if (marker == U"P.S.") return Occurs(lower, {U"p.", U"s."});
  return lower.find(Lower(marker)) != lower.npos;
}

bool EndsWith(const IfevalInstruction& instruction, std::u32string_view text, const IfevalTools&) {
  std::u32string_view inside = Strip(text);
  while (inside.starts_with('"')) inside.remove_prefix(1);
  while (inside.ends_with('"')) inside.remove_suffix(1);
  return Lower(inside).ends_with(Lower(Strip(instruction.texts[0])));
}

bool Quotation(const IfevalInstruction&, std::u32string_view text, const IfevalTools&) {
  const std::u32string_view inside = Strip(text);
  return inside.size() > 1 && inside.front() == '"' && inside.back() == '"';
}

bool RepeatPrompt(const IfevalInstruction& instruction, std::u32string_view text, const IfevalTools&) {
  return Lower(Strip(text)).starts_with(Lower(Strip(instruction.texts[0])));
}

// Two that differ, with ****** between them, perhaps also before and after.
bool TwoResponses(const IfevalInstruction&, std::u32string_view text, const IfevalTools&) {
  std::vector<std::u32string_view> responses = SplitAt(text, U"******");
  if (IsBlank(responses.back())) responses.pop_back();
  if (!responses.empty() && IsBlank(responses.front())) responses.erase(responses.begin());
  const bool whole = std::none_of(responses.begin(), responses.end(), IsBlank);
  return whole && responses.size() == 2 && Strip(responses[0]) != Strip(responses[1]);
}

}  // namespace punt::ifeval
