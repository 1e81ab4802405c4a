// Splits a line into what Punkt calls words. Three kinds, tried in this order at every place that is not white space:
// dashes and ellipses of several characters; a run that begins with anything but opening or separating punctuation and
// goes on until white space, closing punctuation, a kind-one mark or a comma that ends a word; a single character.
#include "tasks/ifeval/punkt.h"
#include "tasks/ifeval/unicode_text.h"

namespace punt {
namespace {

constexpr std::u32string_view kNeverFirst = U"(\"`{[:;&#*@)}]-,";
constexpr std::u32string_view kNeverInside = U"?!)\";}]*:@'({[";

std::size_t RunOf(std::u32string_view text, std::size_t at, char32_t code) {
  std::size_t size = 0;
  while (at + size < text.size() && text[at + size] == code) ++size;
  return size;
}

/// The number of characters of the mark "--", "..", ". . ." or longer at `at`; 0 if there is none.
std::size_t LongMark(std::u32string_view text, std::size_t at) {
  for (char32_t code : {U'-', U'.'}) {
    const std::size_t size = RunOf(text, at, code);
    if (size >= 2) return size;
  }
  std::size_t dots = 0;  // each but the last followed by one white space
  while (at + 2 * dots < text.size() && text[at + 2 * dots] == '.') {
    ++dots;
    if (at + 2 * dots > text.size() || !IsSpace(text[at + 2 * dots - 1])) break;
  }
  return dots >= 3 ? 2 * dots - 1 : 0;
}

/// Whether the character at `at`, unless it is a comma, ends a word.
bool EndsWord(std::u32string_view text, std::size_t at) {
  return at >= text.size() || IsSpace(text[at]) || kNeverInside.find(text[at]) != text.npos || LongMark(text, at) > 0;
}

std::size_t WordSize(std::u32string_view text, std::size_t at) {
  if (const std::size_t size = LongMark(text, at); size > 0) return size;
  if (kNeverFirst.find(text[at]) != text.npos) return 1;
  std::size_t end = at + 1;
  while (!EndsWord(text, end) && !(text[end] == ',' && EndsWord(text, end + 1))) ++end;
  return end - at;
}

}  // namespace

std::vector<std::u32string_view> PunktWords(std::u32string_view line) {
  std::vector<std::u32string_view> words;
  for (std::size_t at = 0; at < line.size();) {
    if (IsSpace(line[at])) {
      ++at;
      continue;
    }
    const std::size_t size = WordSize(line, at);
    words.push_back(line.substr(at, size));
    at += size;
  }
  return words;
}

}  // namespace punt
