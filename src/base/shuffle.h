// Random orders.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "punt/random.h"

namespace punt {

/// Every order is equally probable.
template <typename T>
void Shuffle(std::span<T> values, RandomStream& random) {
  for (std::size_t left = values.size(); left > 1; --left) {
    std::swap(values[left - 1], values[static_cast<std::size_t>(random.Below(left))]);
  }
}

}  // namespace punt
