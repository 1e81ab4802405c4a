// A text without the white space around it.
#pragma once

#include <string_view>

namespace punt {

inline constexpr std::string_view kWhiteSpace = " \t\n\r\f\v";

/// `text` without the characters of `space` at either end.
constexpr std::string_view Trim(std::string_view text, std::string_view space = kWhiteSpace) {
  const std::size_t begin = text.find_first_not_of(space);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(space) - begin + 1);
}

}  // namespace punt
