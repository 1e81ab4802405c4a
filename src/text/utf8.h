// UTF-8 and the Unicode facts that tokenizers and terminals need.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace punt {

/// Bytes of the UTF-8 character at the beginning of `text`, which is not empty; 0 when there is none. Overlong forms,
/// surrogates and values past U+10FFFF do not count as characters.
std::size_t CharacterBytes(std::string_view text);

/// The offset of the first byte that does not begin a UTF-8 character; npos when all of `text` is valid.
std::size_t InvalidUtf8(std::string_view text);

/// Throws Error naming the byte and its offset when `text` is not valid UTF-8.
void RequireUtf8(std::string_view text);

/// Bytes of the longest beginning of whole characters that has at most `most` bytes.
std::size_t WholeCharacters(std::string_view text, std::size_t most);

/// The code points of valid UTF-8.
std::u32string CodePoints(std::string_view text);
void AppendUtf8(char32_t code, std::string& text);

/// Unicode's white space: \s in the patterns that split texts into words.
bool IsWhiteSpace(char32_t code);

/// The columns that terminals give a character: 0 for a mark on the one before it, 2 for East Asian wide ones and
/// emoji.
int TerminalColumns(char32_t code);

/// Canonical composition of valid UTF-8. Takes time in proportion to the text, except for sorting each run of accents.
std::string Nfc(std::string_view text);
/// Canonical decomposition.
std::u32string Nfd(std::string_view text);

}  // namespace punt
