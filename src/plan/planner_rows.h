// The rows of the planner registry, one per planner's file in this folder. registry.cc puts them in order.
#pragma once

#include "punt/planner.h"

namespace punt {

extern const PlannerRow kPuntRow;
extern const PlannerRow kScoutRow;
extern const PlannerRow kDistilledRow;
extern const PlannerRow kTopKRow;
extern const PlannerRow kEntropyBoundRow;
extern const PlannerRow kDilatedRow;
extern const PlannerRow kLeftToRightRow;
extern const PlannerRow kRandomRow;
extern const PlannerRow kThresholdRow;
extern const PlannerRow kFactorRow;
extern const PlannerRow kTimestepRow;
extern const PlannerRow kHaltonRow;
extern const PlannerRow kKlassRow;
extern const PlannerRow kRemdmRow;
extern const PlannerRow kP2Row;
extern const PlannerRow kInfoGainRow;
extern const PlannerRow kWinoRow;
extern const PlannerRow kDawnRow;
extern const PlannerRow kFrechetRow;
extern const PlannerRow kLessRow;
extern const PlannerRow kSaberRow;
extern const PlannerRow kDapdRow;
extern const PlannerRow kCladRow;
extern const PlannerRow kAdasRow;
extern const PlannerRow kUpstreamRow;
extern const PlannerRow kFreedaveRow;
extern const PlannerRow kSpacingRow;
extern const PlannerRow kHybridRow;
extern const PlannerRow kJointThresholdRow;

}  // namespace punt
