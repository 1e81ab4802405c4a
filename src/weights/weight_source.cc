#include "weights/weight_source.h"

namespace punt {

std::ptrdiff_t WeightSource::Find(std::string_view name) const {
  const auto all = tensors();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].name == name) return static_cast<std::ptrdiff_t>(i);
  }
  return -1;
}

}  // namespace punt
