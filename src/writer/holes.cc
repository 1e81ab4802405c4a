#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "punt/writer.h"
#include "text/utf8.h"

namespace punt {
namespace {

constexpr std::string_view kHole = "[MASK";
constexpr std::int64_t kMostPositions = 1 << 24;  // far beyond any model; keeps sums in range
constexpr std::size_t kMostShown = 40;            // characters of what is wrong

/// The beginning of a text, whole characters.
std::string Beginning(std::string_view text) {
  const std::size_t end = WholeCharacters(text, kMostShown);
  return std::string(text.substr(0, end)) + (end < text.size() ? "..." : "");
}

/// Where the next hole is, or what was meant as one, such as "[mask:3]".
std::size_t FindHole(std::string_view text) {
  const auto same = [](char a, char b) { return a == b || (b >= 'A' && b <= 'Z' && a == b - 'A' + 'a'); };
  const auto at = std::search(text.begin(), text.end(), kHole.begin(), kHole.end(), same);
  return at == text.end() ? std::string_view::npos : static_cast<std::size_t>(at - text.begin());
}

/// What looks like a hole but is not one: [MAKS:4].
std::string_view MisspeltHole(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t open = text.find('['); open != std::string_view::npos; open = text.find('[', open + 1)) {
    std::size_t at = open + 1;
    while (at < text.size() && is_letter(text[at])) ++at;
    if (at == open + 1 || at >= text.size() || text[at] != ':') continue;
    const std::size_t number = ++at;
    while (at < text.size() && is_digit(text[at])) ++at;
    if (at > number && at < text.size() && text[at] == ']') return text.substr(open, at + 1 - open);
  }
  return {};
}

std::int64_t ParseCount(std::string_view text) {
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const bool is_whole = error != std::errc::invalid_argument && end == text.data() + text.size();
  if (!is_whole) BadInput("the length of a hole must be a whole number, got '{}'", Beginning(text));
  if (error != std::errc() || count < 1 || count > kMostPositions) {
    BadInput("the length of a hole must be between 1 and {}, got {}", kMostPositions, Beginning(text));
  }
  return count;
}

}  // namespace

std::vector<Stretch> ParseHoles(std::string_view text) {
  std::vector<Stretch> parts;
  bool has_hole = false;
  if (text.empty()) BadInput("the infill is empty");
  while (!text.empty()) {
    const std::size_t hole = FindHole(text);
    const std::string_view misspelt = MisspeltHole(text.substr(0, hole));
    if (!misspelt.empty()) BadInput("a hole is written [MASK] or [MASK:n], got '{}'", Beginning(misspelt));
    if (hole != 0) parts.push_back({std::string(text.substr(0, hole)), 0});
    if (hole == std::string_view::npos) break;
    text.remove_prefix(hole);
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) BadInput("a hole is not closed: '{}'", Beginning(text));
    const std::string_view inside = text.substr(kHole.size(), close - kHole.size());
    if (!text.starts_with(kHole) || !(inside.empty() || inside.starts_with(':'))) {
      BadInput("a hole is written [MASK] or [MASK:n], got '{}'", Beginning(text.substr(0, close + 1)));
    }
    parts.push_back({"", inside.empty() ? 1 : ParseCount(inside.substr(1))});
    has_hole = true;
    text.remove_prefix(close + 1);
  }
  if (!has_hole) BadInput("the infill has no hole to fill; one of n tokens is written [MASK:n]");
  return parts;
}

}  // namespace punt
