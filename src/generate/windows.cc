#include "generate/windows.h"

#include <algorithm>

namespace punt {

Windows WindowsOf(const Recipe& recipe, const DenoiserInfo& info) {
  return {.size = recipe.window > 0 ? recipe.window : info.block_size, .is_aligned = info.block_size > 0};
}

std::span<const Position> ScopeOf(const Canvas& canvas, const Windows& windows, int index) {
  const std::span<const Position> generated = canvas.generated();
  if (windows.size == 0) return generated;
  if (!windows.is_aligned) {
    const std::size_t begin = static_cast<std::size_t>(windows.size) * static_cast<std::size_t>(index);
    return generated.subspan(begin, std::min(static_cast<std::size_t>(windows.size), generated.size() - begin));
  }
  const auto end_of = [&](std::size_t begin) {
    const Position window = generated[begin] / windows.size;
    const auto beyond = std::find_if(generated.begin() + static_cast<std::ptrdiff_t>(begin), generated.end(),
                                     [&](Position position) { return position / windows.size != window; });
    return static_cast<std::size_t>(beyond - generated.begin());
  };
  std::size_t begin = 0;
  for (int i = 0; i < index; ++i) begin = end_of(begin);
  return generated.subspan(begin, end_of(begin) - begin);
}

}  // namespace punt
