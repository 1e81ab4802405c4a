// Texts of a chat template, byte by byte either the template's words or a message's. The engine marks what comes from
// messages, but several of its functions lose the marks, count bytes where Jinja counts characters, or take time that
// grows with the square of the text: those are here instead.
#pragma once

#include <jinja/string.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace punt {

class MarkedText {
 public:
  MarkedText() = default;
  explicit MarkedText(const jinja::string& text);

  jinja::string Parts() const;
  const std::string& text() const { return text_; }

  void Append(const MarkedText& other);
  /// Bytes [begin, end).
  MarkedText Part(std::size_t begin, std::size_t end) const;
  /// `count` times: -1 for every occurrence.
  MarkedText Replaced(std::string_view old_text, const MarkedText& new_text, std::int64_t count) const;
  /// At white space where there is no separator; at most `count` cuts, -1 for all.
  std::vector<MarkedText> Split(const std::optional<std::string>& separator, std::int64_t count, bool from_end) const;
  MarkedText Stripped(bool left, bool right, const std::optional<std::string>& characters) const;
  /// Where characters begin, and the size at the end.
  std::vector<std::size_t> Characters() const;

 private:
  std::string text_;
  std::string is_input_;  // '\1' for each byte of a message, else '\0'
};

/// The indices that Python's [start:stop:step] takes of `size`, step not 0.
std::vector<std::size_t> SliceIndices(std::size_t size, std::optional<std::int64_t> start,
                                      std::optional<std::int64_t> stop, std::int64_t step);

}  // namespace punt
