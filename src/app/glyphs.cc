#include "app/glyphs.h"

#include <cstddef>
#include <cstdint>

namespace punt {
namespace {

constexpr std::uint32_t kReplacement = 0xfffd;

struct Decoded {
  std::uint32_t code = kReplacement;
  std::size_t size = 1;
  bool is_valid = false;
};

/// The code point at `at`. Anything malformed consumes one byte.
Decoded DecodeAt(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t first = byte(at);
  if (first < 0x80) return {first, 1, true};
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + size > text.size()) return {};
  std::uint32_t code = first & (0xffu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return {};
    code = (code << 6) | (byte(at + i) & 0x3f);
  }
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[size] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return {code, size, true};
}

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

// Coarse but safe tables of the Unicode blocks that terminals agree on.
constexpr Range kZeroWidth[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a}, {0x064b, 0x065f},   {0x0900, 0x0902},
    {0x093c, 0x093c}, {0x0941, 0x0948}, {0x094d, 0x094d}, {0x0e31, 0x0e31}, {0x0e34, 0x0e3a},   {0x0e47, 0x0e4e},
    {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x2064},   {0x2066, 0x206f},
    {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0xe0000, 0xe007f}, {0xe0100, 0xe01ef}};
constexpr Range kWide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},   {0x25fd, 0x25fe},
    {0x2614, 0x2615},   {0x2648, 0x2653},   {0x26a1, 0x26a1},   {0x26bd, 0x26be},   {0x26d4, 0x26d4},
    {0x2705, 0x2705},   {0x2728, 0x2728},   {0x274c, 0x274c},   {0x2753, 0x2755},   {0x2795, 0x2797},
    {0x2b50, 0x2b50},   {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},   {0x4e00, 0x9fff},
    {0xa000, 0xa4cf},   {0xa960, 0xa97f},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
    {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f7e0, 0x1f7eb},
    {0x1f900, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd}};

template <std::size_t N>
bool IsIn(const Range (&table)[N], std::uint32_t code) {
  for (const Range& range : table) {
    if (code >= range.first && code <= range.last) return true;
  }
  return false;
}

/// Bidirectional controls reorder the whole line, whatever their width.
bool ReordersText(std::uint32_t code) {
  return (code >= 0x200e && code <= 0x200f) || (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

bool IsControl(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029;
}

}  // namespace

std::vector<Glyph> Glyphs(std::string_view text) {
  std::vector<Glyph> glyphs;
  for (std::size_t at = 0; at < text.size();) {
    const Decoded decoded = DecodeAt(text, at);
    const std::string_view bytes = text.substr(at, decoded.size);
    at += decoded.size;
    if (decoded.code == '\n') {
      glyphs.push_back({"\u21b5", 1, true});
    } else if (decoded.code == '\t') {
      glyphs.push_back({" ", 1, false});
    } else if (!decoded.is_valid || IsControl(decoded.code) || ReordersText(decoded.code)) {
      glyphs.push_back({"\ufffd", 1, false});
    } else if (IsIn(kZeroWidth, decoded.code)) {
      // A mark without a base letter gets a space.
      if (glyphs.empty() || glyphs.back().breaks_line) glyphs.push_back({" ", 1, false});
      glyphs.back().bytes += bytes;
    } else {
      glyphs.push_back({std::string(bytes), IsIn(kWide, decoded.code) ? 2 : 1, false});
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

bool IsUtf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Decoded decoded = DecodeAt(text, at);
    if (!decoded.is_valid) return false;
    at += decoded.size;
  }
  return true;
}

}  // namespace punt
