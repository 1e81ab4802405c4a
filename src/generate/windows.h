// The windows of a generation: positions that are filled before those after them.
#pragma once

#include <span>

#include "punt/canvas.h"
#include "punt/denoiser.h"
#include "punt/generator.h"

namespace punt {

/// How a generation is cut into windows.
struct Windows {
  int size = 0;             // 0: one window
  bool is_aligned = false;  // stretches of the canvas, of which those with nothing to generate do not count
};
Windows WindowsOf(const Recipe& recipe, const DenoiserInfo& info);

/// Positions of window `index`, ascending.
std::span<const Position> ScopeOf(const Canvas& canvas, const Windows& windows, int index);

}  // namespace punt
