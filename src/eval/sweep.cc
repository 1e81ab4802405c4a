#include "eval/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "eval/bench.h"

namespace punt {
namespace {

constexpr double kHottest = 1e6;
constexpr std::uint64_t kMostSeeds = 10'000;

std::vector<std::string_view> Parts(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

template <typename T>
T Read(std::string_view text, std::string_view name, std::string_view whole) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    BadInput("{} is a list of numbers, got '{}' in '{}'", name, text, whole);
  }
  return value;
}

template <typename T>
void RequireDifferent(std::vector<T> values, std::string_view name) {
  std::sort(values.begin(), values.end());
  const auto twice = std::adjacent_find(values.begin(), values.end());
  if (twice != values.end()) BadInput("{} has {} twice", name, *twice);
}

}  // namespace

std::vector<SweepPoint> SweepPoints(std::span<const GridEntry> grid, const SweepAxes& axes) {
  std::vector<SweepPoint> points;
  for (double temperature : axes.temperatures) {
    for (const GridEntry& entry : grid) {
      for (std::uint64_t seed : axes.seeds) points.push_back({entry, temperature, seed});
    }
  }
  return points;
}

std::string FolderName(const SweepPoint& point, const SweepAxes& axes) {
  std::string name = FolderName(point.entry);
  if (axes.names_temperature) name += fmt::format("-t{}", point.temperature);
  if (axes.names_seed) name += fmt::format("-s{}", point.seed);
  return name;
}

std::vector<double> ParseTemperatures(std::string_view text, std::string_view name) {
  std::vector<double> temperatures;
  for (std::string_view part : Parts(text)) {
    const double value = Read<double>(part, name, text);
    if (!(value >= 0 && value <= kHottest)) BadInput("{} must lie between 0 and {}, got {}", name, kHottest, part);
    temperatures.push_back(value);
  }
  RequireDifferent(temperatures, name);
  return temperatures;
}

std::vector<std::uint64_t> ParseSeeds(std::string_view text, std::string_view name) {
  std::vector<std::uint64_t> seeds;
  for (std::string_view part : Parts(text)) {
    const std::size_t dash = part.find('-');
    const auto first = Read<std::uint64_t>(part.substr(0, dash), name, text);
    const auto last = dash == std::string_view::npos ? first : Read<std::uint64_t>(part.substr(dash + 1), name, text);
    if (last < first) BadInput("{} goes from {} down to {}", name, first, last);
    if (last - first >= kMostSeeds || seeds.size() + (last - first) >= kMostSeeds) {
      BadInput("{} names more than {} seeds", name, kMostSeeds);
    }
    for (std::uint64_t i = 0; i <= last - first; ++i) seeds.push_back(first + i);
  }
  RequireDifferent(seeds, name);
  return seeds;
}

}  // namespace punt
