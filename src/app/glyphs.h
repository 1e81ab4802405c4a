// Text as a terminal shows it: characters with their widths in columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace punt {

/// One character with the combining marks after it, safe to print: `bytes` move the cursor by exactly `width`
/// columns.
struct Glyph {
  std::string bytes;  // valid UTF-8
  int width = 1;      // columns: 1, or 2 for East Asian wide characters and emoji
  bool breaks_line = false;
};

/// Splits text from any source (pieces of a vocabulary, a trace file). Control characters, escape
/// sequences included, become visible stand-ins; a line feed becomes an arrow that breaks the line; bytes
/// that are not UTF-8 become U+FFFD. Never throws.
std::vector<Glyph> Glyphs(std::string_view text);

/// The same as one text that a terminal shows as it is: line feeds are kept, nothing else moves the cursor.
std::string SafeText(std::string_view text);

/// Columns of a text without line feeds.
int TextWidth(std::string_view text);

/// At most `columns` columns; what is cut off is replaced by "~".
std::string FitToWidth(std::string_view text, int columns);

/// Exactly `columns` columns: cut as above, or padded with spaces.
std::string PadToWidth(std::string_view text, int columns);

}  // namespace punt
