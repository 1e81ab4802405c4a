#include "text/utf8.h"

#include <utf8proc.h>

#include <cstdlib>
#include <memory>
#include <new>

#include "base/check.h"

namespace punt {
namespace {

/// Normalised by utf8proc, which allocates the result itself.
std::string Normalized(std::string_view text, int options) {
  if (text.empty()) return {};
  utf8proc_uint8_t* raw = nullptr;
  const utf8proc_ssize_t size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &raw, static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(raw, &std::free);
  if (size == UTF8PROC_ERROR_NOMEM) throw std::bad_alloc();
  Check(size >= 0, "normalising a text that is not UTF-8");
  return {reinterpret_cast<const char*>(raw), static_cast<std::size_t>(size)};
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

std::string Nfc(std::string_view text) { return Normalized(text, UTF8PROC_STABLE | UTF8PROC_COMPOSE); }

std::u32string Nfd(std::string_view text) { return CodePoints(Normalized(text, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE)); }

}  // namespace punt
