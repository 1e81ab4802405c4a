// Rows that kernels find hard, for the tests of the row kernels and of their twins.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "punt/random.h"

namespace punt {

struct TestRow {
  std::string name;
  std::vector<double> logits;  // each of them a float, so that both precisions see the same row
};

/// Sizes around the widths of vectors, groups and chunks.
inline std::vector<std::size_t> TestRowSizes() {
  return {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 127, 1000, 1025, 4099, 32001};
}

/// Every kind of row in one size; deterministic in size and seed.
inline std::vector<TestRow> TestRows(std::size_t size, std::uint64_t seed) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  RandomStream stream({.seed = seed, .sample = size}, 0, Purpose::kToyModel);
  auto make = [&](const std::string& name, auto logit) {
    TestRow row{name, std::vector<double>(size)};
    for (std::size_t v = 0; v < size; ++v) row.logits[v] = static_cast<double>(static_cast<float>(logit(v)));
    return row;
  };
  const auto hot = static_cast<std::size_t>(stream.Below(size));
  std::vector<TestRow> rows;
  rows.push_back(make("mild", [&](std::size_t) { return 8 * stream.Uniform() - 4; }));
  rows.push_back(make("gumbel", [&](std::size_t) { return 3 * stream.Gumbel(); }));
  rows.push_back(make("extreme", [&](std::size_t) { return 2e4 * stream.Uniform() - 1e4; }));
  rows.push_back(make("high", [&](std::size_t) { return 1e4 + stream.Uniform(); }));
  rows.push_back(make("gaps", [&](std::size_t) { return stream.Below(3) == 0 ? -kInfinity : stream.Gumbel(); }));
  rows.push_back(make("equal", [&](std::size_t) { return -3.25; }));
  rows.push_back(make("ties", [&](std::size_t) { return static_cast<double>(stream.Below(3)); }));
  rows.push_back(make("one-hot", [&](std::size_t v) { return v == hot ? 2.5 : -kInfinity; }));
  rows.push_back(make("peaked", [&](std::size_t v) { return v == hot ? 30.0 : stream.Uniform(); }));
  rows.push_back(make("ascending", [&](std::size_t v) { return 0.01 * static_cast<double>(v); }));
  rows.push_back(make("steep", [&](std::size_t v) { return 5.0 * static_cast<double>(v); }));
  rows.push_back(make("descending", [&](std::size_t v) { return -0.01 * static_cast<double>(v); }));
  rows.push_back(make("denormal", [&](std::size_t) { return 1e-40 * stream.Uniform(); }));
  rows.push_back(make("impossible", [&](std::size_t) { return -kInfinity; }));
  return rows;
}

inline std::vector<float> ToFloat(const std::vector<double>& row) { return std::vector<float>(row.begin(), row.end()); }

/// |a - b| within `absolute` + `relative` of the larger; infinities must agree.
inline bool Near(double a, double b, double absolute, double relative) {
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= absolute + relative * std::max(std::abs(a), std::abs(b));
}

}  // namespace punt
