// How planners look in pictures: the same colour and marker in every one, PUNT an orange circle.
#pragma once

#include <string_view>

#include "report/svg_plot.h"

namespace punt {

/// The style of a curve named after a planner: "punt", "punt:epsilon=0.04", "punt, random order", "punt (T 0.7)" are
/// all PUNT's (RenderSvg distinguishes them by markers). None for a name that does not begin with a planner's.
std::optional<PlotStyle> PlannerStyle(std::string_view curve);

/// Whether it is one of PUNT's curves, which readers look for.
bool IsPuntCurve(std::string_view curve);

}  // namespace punt
