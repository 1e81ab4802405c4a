// What changes of a canvas's length do to lists that have an entry for each of its positions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "punt/types.h"

namespace punt {

/// `old` with `fresh` before each position of `inserted` (0..size, ascending, the same more than once for several), and
/// without those of `removed` (ascending).
template <typename T>
std::vector<T> Resized(std::vector<T> old, std::span<const Position> inserted, std::span<const Position> removed,
                       const T& fresh) {
  std::vector<T> list;
  list.reserve(old.size() + inserted.size() - removed.size());
  for (std::size_t i = 0; i <= old.size(); ++i) {
    const auto position = static_cast<Position>(i);
    for (; !inserted.empty() && inserted.front() == position; inserted = inserted.subspan(1)) list.push_back(fresh);
    if (i == old.size() || std::binary_search(removed.begin(), removed.end(), position)) continue;
    list.push_back(std::move(old[i]));
  }
  return list;
}

}  // namespace punt
