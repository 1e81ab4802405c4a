#include "base/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace punt {
namespace {

constexpr std::size_t kLongest = 64;       // a longer text is not meant as a name
constexpr std::size_t kShortestStart = 3;  // letters that may stand for a longer name

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

}  // namespace

// Optimal string alignment: Levenshtein's table with one more way into a cell, the swap of the last two letters.
int EditDistance(std::string_view a, std::string_view b) {
  const std::size_t columns = b.size() + 1;
  std::vector<int> table((a.size() + 1) * columns);
  const auto at = [&](std::size_t i, std::size_t j) -> int& { return table[i * columns + j]; };
  for (std::size_t i = 0; i <= a.size(); ++i) at(i, 0) = static_cast<int>(i);
  for (std::size_t j = 0; j <= b.size(); ++j) at(0, j) = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replaced = at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
      at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, replaced});
      const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swap) at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
    }
  }
  return table.back();
}

std::string_view Nearest(std::string_view typed, std::span<const std::string_view> names) {
  if (typed.empty() || typed.size() > kLongest) return {};
  const std::string lower = Lower(typed);
  std::string_view nearest;
  int least = 0;
  for (std::string_view name : names) {
    const int distance = EditDistance(lower, Lower(name));
    const int limit = std::max(1, static_cast<int>(name.size()) / 3);
    if (distance > limit || distance >= static_cast<int>(name.size())) continue;
    if (!nearest.empty() && distance >= least) continue;
    nearest = name;
    least = distance;
  }
  if (!nearest.empty() || lower.size() < kShortestStart) return nearest;
  const auto begins = [&](std::string_view name) { return Lower(name).starts_with(lower); };
  const auto found = std::find_if(names.begin(), names.end(), begins);
  return found == names.end() ? std::string_view() : *found;
}

std::string DidYouMean(std::string_view typed, std::span<const std::string_view> names) {
  const std::string_view name = Nearest(typed, names);
  return name.empty() ? "" : fmt::format(" (did you mean {}?)", name);
}

}  // namespace punt
