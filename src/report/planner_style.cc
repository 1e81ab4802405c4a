#include "report/planner_style.h"

#include <algorithm>

#include "punt/planner.h"

namespace punt {
namespace {

std::string_view PlannerOf(std::string_view curve) { return curve.substr(0, curve.find_first_of(":,( ")); }

}  // namespace

std::optional<PlotStyle> PlannerStyle(std::string_view curve) {
  const std::string_view name = PlannerOf(curve);
  const std::span<const PlannerRow> rows = Planners();
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const PlannerRow& row) { return row.name == name; });
  if (found == rows.end()) return std::nullopt;
  return NumberedStyle(static_cast<int>(found - rows.begin()));
}

bool IsPuntCurve(std::string_view curve) { return PlannerOf(curve) == "punt"; }

}  // namespace punt
