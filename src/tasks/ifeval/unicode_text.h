// Letters, case and white space of Unicode text as Python's str and re define them, because other harnesses'
// instruction checks use these. Texts are code points (text/utf8.h turns UTF-8 into them and back).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace punt {

/// White space as for str.isspace and `\s`: separators, the ASCII controls 9-13 and 28-31, U+0085.
bool IsSpace(char32_t code);
/// `\w`: letters and numbers of any script, and '_'. Combining marks are not among them, so that a word of a script
/// that writes vowels as marks is several runs.
bool IsWordCharacter(char32_t code);
/// `\d`: decimal digits of any script.
bool IsDigit(char32_t code);
bool IsUpper(char32_t code);
bool IsLower(char32_t code);

/// True with at least one upper-case character and none in lower or title case; IsLowerText likewise.
bool IsUpperText(std::u32string_view text);
bool IsLowerText(std::u32string_view text);

/// Lower case; only U+0130 becomes two characters (final sigma is not distinguished).
std::u32string Lower(std::u32string_view text);

/// Maps all characters that differ only by case to one, including dotless i and long s: for comparisons that ignore
/// case.
char32_t FoldCase(char32_t code);

std::u32string_view StripLeft(std::u32string_view text);
std::u32string_view StripRight(std::u32string_view text);
std::u32string_view Strip(std::u32string_view text);
inline bool IsBlank(std::u32string_view text) { return Strip(text).empty(); }

/// The parts between white space, none of them empty.
std::vector<std::u32string_view> SplitWords(std::u32string_view text);
/// The parts between occurrences of `separator` (not empty), one more than there are; found from the left.
std::vector<std::u32string_view> SplitAt(std::u32string_view text, std::u32string_view separator);

/// Runs of word characters.
std::size_t CountWordRuns(std::u32string_view text);

/// Whether a word begins or ends between text[at - 1] and text[at]; `at` may be 0 and text.size().
bool IsWordBoundary(std::u32string_view text, std::size_t at);

/// Where `word` first occurs at or after `from`, ignoring case; npos if it does not.
std::size_t FindIgnoringCase(std::u32string_view text, std::u32string_view word, std::size_t from = 0);

}  // namespace punt
