#include "report/planner_style.h"

#include <gtest/gtest.h>

#include <set>

#include "punt/planner.h"

namespace punt {
namespace {

TEST(PlannerStyle, PuntIsTheOrangeCircleAndNobodyElseIs) {
  for (const char* curve : {"punt", "punt:epsilon=0.04", "punt, random order", "punt (T 0.7)"}) {
    EXPECT_EQ(PlannerStyle(curve)->colour, 0) << curve;
    EXPECT_EQ(PlannerStyle(curve)->marker, 0) << curve;
    EXPECT_TRUE(IsPuntCurve(curve)) << curve;
  }
  std::set<std::pair<int, int>> looks;
  for (const PlannerRow& row : Planners()) {
    const PlotStyle style = *PlannerStyle(row.name);
    EXPECT_TRUE(looks.insert({style.colour, style.marker}).second) << row.name << " looks like another";
    EXPECT_EQ(style.colour == 0, row.name == "punt") << row.name;
    EXPECT_EQ(style.marker == 0, row.name == "punt") << row.name;
  }
  EXPECT_FALSE(PlannerStyle("llama.cpp"));
  EXPECT_FALSE(PlannerStyle("punters"));
  EXPECT_FALSE(IsPuntCurve("punters"));
}

}  // namespace
}  // namespace punt
