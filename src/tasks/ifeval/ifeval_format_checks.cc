#include <algorithm>
#include <nlohmann/json.hpp>

#include "tasks/ifeval/ifeval_check_functions.h"
#include "tasks/ifeval/unicode_text.h"
#include "text/utf8.h"

namespace punt::ifeval {
namespace {

bool Reaches(const IfevalInstruction& instruction, std::size_t count) {
  return static_cast<long>(count) >= instruction.number;
}

/// Lines that begin with `mark`, after white space. The white space may include blank lines, which then belong to the
/// item after them. If `alone` is true the mark is followed by another character: if that is the end of the
/// line, the item continues on the next line.
std::size_t CountItems(std::u32string_view text, char32_t mark, bool alone) {
  std::size_t count = 0;
  for (std::size_t line = 0; line < text.size();) {
    std::size_t at = line;
    while (at < text.size() && IsSpace(text[at])) ++at;
    if (at == text.size()) break;
    const bool is_item = text[at] == mark && (!alone || (at + 1 < text.size() && text[at + 1] != mark));
    if (is_item) ++count;
    const std::size_t from = is_item ? at + (alone ? 2 : 1) : at;
    const std::size_t end = std::min(text.find('\n', from), text.size());
    line = is_item && text[end - 1] == '\n' ? end : end + 1;
  }
  return count;
}

/// Parts with `mark` on both sides, on one line, without '*' inside and not blank.
std::size_t CountMarked(std::u32string_view text, std::u32string_view mark) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(mark, at)) != text.npos;) {
    const std::size_t begin = at + mark.size();
    const std::size_t end = std::min(text.find_first_of(U"\n*", begin), text.size());
    if (!text.substr(end).starts_with(mark)) {
      ++at;
      continue;
    }
    if (!IsBlank(text.substr(begin, end - begin))) ++count;
    at = end + mark.size();
  }
  return count;
}

}  // namespace

bool Placeholders(const IfevalInstruction& instruction, std::u32string_view text, const IfevalTools&) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find('[', at)) != text.npos; ++at) {
    const std::size_t end = text.find_first_of(U"]\n", at);
    if (end == text.npos) break;
    if (text[end] == ']') ++count;
    at = end;
  }
  return Reaches(instruction, count);
}

bool BulletLists(const IfevalInstruction& instruction, std::u32string_view text, const IfevalTools&) {
  return static_cast<long>(CountItems(text, '*', true) + CountItems(text, '-', false)) == instruction.number;
}

// In single or double asterisks; double ones are two empty single ones to the first count.
bool HighlightedSections(const IfevalInstruction& instruction, std::u32string_view text, const IfevalTools&) {
  return Reaches(instruction, CountMarked(text, U"*") + CountMarked(text, U"**"));
}

bool MultipleSections(const IfevalInstruction& instruction, std::u32string_view text, const IfevalTools&) {
  const std::u32string_view name = Strip(instruction.texts[0]);
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(name, at)) != text.npos; ++at) {
    std::size_t number = at + name.size();
    if (number < text.size() && IsSpace(text[number])) ++number;
    if (number < text.size() && IsDigit(text[number])) ++count;
  }
  return Reaches(instruction, count);
}

bool JsonFormat(const IfevalInstruction&, std::u32string_view text, const IfevalTools&) {
  std::u32string_view inside = Strip(text);
  for (std::u32string_view fence : {U"```json", U"```Json", U"```JSON", U"```"}) {
    if (inside.starts_with(fence)) inside.remove_prefix(fence.size());
  }
  if (inside.ends_with(U"```")) inside.remove_suffix(3);
  std::string bytes;
  for (char32_t code : Strip(inside)) AppendUtf8(code, bytes);
  return nlohmann::json::accept(bytes);
}

// On one line, << and the last >> with something other than white space and brackets between them.
bool Title(const IfevalInstruction&, std::u32string_view text, const IfevalTools&) {
  for (std::u32string_view line : SplitAt(text, U"\n")) {
    const std::size_t open = line.find(U"<<");
    const std::size_t close = line.rfind(U">>");
    if (open == line.npos || close == line.npos || close < open + 3) continue;
    std::u32string_view title = line.substr(open, close - open);
    title.remove_prefix(std::min(title.find_first_not_of('<'), title.size()));
    while (title.ends_with('>')) title.remove_suffix(1);
    if (!IsBlank(title)) return true;
  }
  return false;
}

}  // namespace punt::ifeval
