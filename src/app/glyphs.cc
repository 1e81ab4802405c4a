#include "app/glyphs.h"

#include <algorithm>
#include <cstddef>

#include "text/utf8.h"

namespace punt {
namespace {

/// Bidirectional controls reorder the whole line, whatever their width.
bool ReordersText(char32_t code) {
  return (code >= 0x200e && code <= 0x200f) || (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

bool IsControl(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029;
}

}  // namespace

std::vector<Glyph> Glyphs(std::string_view text) {
  std::vector<Glyph> glyphs;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = CharacterBytes(text.substr(at));
    const std::string_view bytes = text.substr(at, size);
    at += std::max<std::size_t>(size, 1);  // of what is malformed, a byte at a time
    const char32_t code = size == 0 ? U'\ufffd' : CodePoints(bytes).front();
    if (code == '\n') {
      glyphs.push_back({"\u21b5", 1, true});
    } else if (code == '\t') {
      glyphs.push_back({" ", 1, false});
    } else if (size == 0 || IsControl(code) || ReordersText(code)) {
      glyphs.push_back({"\ufffd", 1, false});
    } else if (TerminalColumns(code) == 0) {
      // A mark without a base letter gets a space.
      if (glyphs.empty() || glyphs.back().breaks_line) glyphs.push_back({" ", 1, false});
      glyphs.back().bytes += bytes;
    } else {
      glyphs.push_back({std::string(bytes), TerminalColumns(code), false});
    }
  }
  return glyphs;
}

std::string SafeText(std::string_view text) {
  std::string safe;
  for (const Glyph& glyph : Glyphs(text)) safe += glyph.breaks_line ? "\n" : glyph.bytes;
  return safe;
}

int TextWidth(std::string_view text) {
  int width = 0;
  for (const Glyph& glyph : Glyphs(text)) width += glyph.width;
  return width;
}

std::string FitToWidth(std::string_view text, int columns) {
  std::string fitted;
  std::size_t shorter = 0;  // bytes that leave room for the "~"
  int width = 0;
  for (const Glyph& glyph : Glyphs(text)) {
    if (width + glyph.width > columns) {
      fitted.resize(shorter);
      if (columns > 0) fitted += '~';
      return fitted;
    }
    width += glyph.width;
    fitted += glyph.bytes;
    if (width < columns) shorter = fitted.size();
  }
  return fitted;
}

std::string PadToWidth(std::string_view text, int columns) {
  std::string fitted = FitToWidth(text, columns);
  fitted.append(static_cast<std::size_t>(columns - TextWidth(fitted)), ' ');
  return fitted;
}

}  // namespace punt
