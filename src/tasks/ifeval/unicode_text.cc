#include "tasks/ifeval/unicode_text.h"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>

namespace punt {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Unicode's Other_Uppercase and Other_Lowercase: cased, though their category is not a letter's with case.
constexpr Range kOtherUpper[] = {
    {0x2160, 0x216f}, {0x24b6, 0x24cf}, {0x1f130, 0x1f149}, {0x1f150, 0x1f169}, {0x1f170, 0x1f189}};
constexpr Range kOtherLower[] = {{0xaa, 0xaa},     {0xba, 0xba},     {0x2b0, 0x2b8},   {0x2c0, 0x2c1},
                                 {0x2e0, 0x2e4},   {0x345, 0x345},   {0x37a, 0x37a},   {0x1d2c, 0x1d6a},
                                 {0x1d78, 0x1d78}, {0x1d9b, 0x1dbf}, {0x2071, 0x2071}, {0x207f, 0x207f},
                                 {0x2090, 0x209c}, {0x2170, 0x217f}, {0x24d0, 0x24e9}, {0x2c7c, 0x2c7d},
                                 {0xa69c, 0xa69d}, {0xa770, 0xa770}, {0xa7f8, 0xa7f9}, {0xab5c, 0xab5f}};

template <std::size_t N>
bool IsIn(const Range (&ranges)[N], char32_t code) {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [code](const Range& range) { return code >= range.first && code <= range.last; });
}

utf8proc_category_t Category(char32_t code) { return utf8proc_category(static_cast<utf8proc_int32_t>(code)); }

char32_t LowerOf(char32_t code) { return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code))); }

}  // namespace

bool IsSpace(char32_t code) {
  if (code < 0x80) return code == ' ' || (code >= 9 && code <= 13) || (code >= 28 && code <= 31);
  if (code == 0x85) return true;
  const utf8proc_category_t category = Category(code);
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

bool IsWordCharacter(char32_t code) {
  switch (Category(code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return true;
    default:
      return code == '_';
  }
}

bool IsDigit(char32_t code) { return Category(code) == UTF8PROC_CATEGORY_ND; }
bool IsUpper(char32_t code) { return Category(code) == UTF8PROC_CATEGORY_LU || IsIn(kOtherUpper, code); }
bool IsLower(char32_t code) { return Category(code) == UTF8PROC_CATEGORY_LL || IsIn(kOtherLower, code); }

bool IsUpperText(std::u32string_view text) {
  const auto against = [](char32_t code) { return IsLower(code) || Category(code) == UTF8PROC_CATEGORY_LT; };
  return std::any_of(text.begin(), text.end(), IsUpper) && std::none_of(text.begin(), text.end(), against);
}

bool IsLowerText(std::u32string_view text) {
  const auto against = [](char32_t code) { return IsUpper(code) || Category(code) == UTF8PROC_CATEGORY_LT; };
  return std::any_of(text.begin(), text.end(), IsLower) && std::none_of(text.begin(), text.end(), against);
}

std::u32string Lower(std::u32string_view text) {
  std::u32string lower;
  lower.reserve(text.size());
  for (char32_t code : text) {
    if (code == 0x130) {
      lower += U"i\u0307";
    } else {
      lower += LowerOf(code);
    }
  }
  return lower;
}

char32_t FoldCase(char32_t code) {
  if (code == 0x130 || code == 0x131) return 'i';
  if (code == 0x17f) return 's';
  return LowerOf(code);
}

std::u32string_view StripLeft(std::u32string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  return text;
}

std::u32string_view StripRight(std::u32string_view text) {
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

std::u32string_view Strip(std::u32string_view text) { return StripLeft(StripRight(text)); }

std::vector<std::u32string_view> SplitWords(std::u32string_view text) {
  std::vector<std::u32string_view> words;
  for (text = StripLeft(text); !text.empty(); text = StripLeft(text)) {
    const auto end = std::find_if(text.begin(), text.end(), IsSpace);
    const auto size = static_cast<std::size_t>(end - text.begin());
    words.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return words;
}

std::vector<std::u32string_view> SplitAt(std::u32string_view text, std::u32string_view separator) {
  std::vector<std::u32string_view> parts;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find(separator, begin)) != text.npos; begin = end + separator.size()) {
    parts.push_back(text.substr(begin, end - begin));
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::size_t CountWordRuns(std::u32string_view text) {
  std::size_t runs = 0;
  bool inside = false;
  for (char32_t code : text) {
    const bool is_word = IsWordCharacter(code);
    if (is_word && !inside) ++runs;
    inside = is_word;
  }
  return runs;
}

bool IsWordBoundary(std::u32string_view text, std::size_t at) {
  const bool before = at > 0 && IsWordCharacter(text[at - 1]);
  const bool behind = at < text.size() && IsWordCharacter(text[at]);
  return before != behind;
}

std::size_t FindIgnoringCase(std::u32string_view text, std::u32string_view word, std::size_t from) {
  if (from > text.size()) return text.npos;
  const auto found = std::search(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), word.begin(), word.end(),
                                 [](char32_t a, char32_t b) { return FoldCase(a) == FoldCase(b); });
  return found == text.end() && !word.empty() ? text.npos : static_cast<std::size_t>(found - text.begin());
}

}  // namespace punt
