// How planners look in pictures: the same colour and marker in every one, PUNT an orange circle.
#pragma once

#include <string_view>

#include "report/svg_plot.h"

namespace punt {

/// Of a curve that is named after a planner: "punt", "punt:epsilon=0.04", "punt, random order", "punt (T 0.7)" all are
/// PUNT's (RenderSvg tells them apart by markers). Nothing for a name that begins with no planner.
std::optional<PlotStyle> PlannerStyle(std::string_view curve);

/// PUNT's curves are the ones that a reader looks for.
bool IsPuntCurve(std::string_view curve);

}  // namespace punt
