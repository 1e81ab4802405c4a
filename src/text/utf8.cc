#include "text/utf8.h"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/check.h"

namespace punt {
namespace {

int CombiningClass(char32_t code) {
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(code))->combining_class;
}

/// Sorts the accents of one letter by class, keeping the order within a class. utf8proc does the same by swapping
/// neighbours, which for a text of nothing but accents takes time that grows with the square of its length.
void OrderAccents(std::u32string& codes) {
  const auto is_accent = [](char32_t code) { return CombiningClass(code) != 0; };
  for (auto begin = codes.begin(); begin != codes.end();) {
    begin = std::find_if(begin, codes.end(), is_accent);
    const auto end = std::find_if_not(begin, codes.end(), is_accent);
    std::stable_sort(begin, end, [](char32_t a, char32_t b) { return CombiningClass(a) < CombiningClass(b); });
    begin = end;
  }
}

}  // namespace

std::size_t CharacterBytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(text[i])); };
  if (byte(0) < 0x80) return 1;
  const std::size_t bytes = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < bytes) return 0;
  unsigned code = byte(0) & (0xffu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0u) != 0x80u) return 0;
    code = code << 6 | (byte(i) & 0x3fu);
  }
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return overlong || surrogate || code > 0x10ffff ? 0 : bytes;
}

std::size_t InvalidUtf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = CharacterBytes(text.substr(at));
    if (bytes == 0) return at;
    at += bytes;
  }
  return std::string_view::npos;
}

void RequireUtf8(std::string_view text) {
  const std::size_t at = InvalidUtf8(text);
  if (at == std::string_view::npos) return;
  BadInput("the text is not valid UTF-8: byte 0x{:02x} at offset {}", static_cast<unsigned char>(text[at]), at);
}

std::size_t WholeCharacters(std::string_view text, std::size_t most) {
  std::size_t end = std::min(text.size(), most);
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) --end;
  return end;
}

std::u32string CodePoints(std::string_view text) {
  std::u32string codes;
  codes.reserve(text.size());
  while (!text.empty()) {
    const std::size_t bytes = CharacterBytes(text);
    Check(bytes > 0, "code points of a text that is not UTF-8");
    const unsigned first = static_cast<unsigned char>(text[0]);
    unsigned code = bytes == 1 ? first : first & (0xffu >> (bytes + 1));
    for (std::size_t i = 1; i < bytes; ++i) code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3fu);
    codes.push_back(code);
    text.remove_prefix(bytes);
  }
  return codes;
}

void AppendUtf8(char32_t code, std::string& text) {
  utf8proc_uint8_t bytes[4];
  const utf8proc_ssize_t count = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
}

bool IsWhiteSpace(char32_t code) {
  if (code == ' ' || (code >= '\t' && code <= '\r') || code == 0x85) return true;
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

int TerminalColumns(char32_t code) {
  const auto point = static_cast<utf8proc_int32_t>(code);
  // Most terminals give marks that take room, as of Indian scripts, a column of their own; utf8proc does not.
  const bool takes_room = utf8proc_category(point) == UTF8PROC_CATEGORY_MC;
  return std::max(utf8proc_charwidth(point), takes_room ? 1 : 0);
}

std::u32string Nfd(std::string_view text) {
  constexpr auto kOptions = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);
  std::u32string codes;
  codes.reserve(text.size());
  for (char32_t code : CodePoints(text)) {
    utf8proc_int32_t parts[8];  // no character has more than four
    int boundary = 0;
    const auto count =
        utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), parts, std::size(parts), kOptions, &boundary);
    Check(count >= 0 && count <= static_cast<utf8proc_ssize_t>(std::size(parts)), "a character that is too complex");
    for (utf8proc_ssize_t i = 0; i < count; ++i) codes += static_cast<char32_t>(parts[i]);
  }
  OrderAccents(codes);
  return codes;
}

std::string Nfc(std::string_view text) {
  const bool is_ascii = std::none_of(text.begin(), text.end(), [](char c) { return (c & 0x80) != 0; });
  if (is_ascii) return std::string(text);
  const std::u32string parts = Nfd(text);
  std::vector<utf8proc_int32_t> codes(parts.begin(), parts.end());
  const utf8proc_ssize_t size =
      utf8proc_normalize_utf32(codes.data(), static_cast<utf8proc_ssize_t>(codes.size()),
                               static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  Check(size >= 0, "normalising a text that is not UTF-8");
  std::string composed;
  composed.reserve(text.size());
  for (utf8proc_ssize_t i = 0; i < size; ++i)
    AppendUtf8(static_cast<char32_t>(codes[static_cast<std::size_t>(i)]), composed);
  return composed;
}

}  // namespace punt
