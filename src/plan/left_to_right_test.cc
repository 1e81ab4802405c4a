#include "plan/scripted_step_testing.h"

namespace punt {
namespace {

TEST(LeftToRight, FollowsThePositionsWhateverTheConfidence) {
  HandMadeStep step({HandMadeStep::kMask, 0, HandMadeStep::kMask, HandMadeStep::kMask});
  step.SetProbs({0.1, 0.5, 0.2, 0.9});
  EXPECT_EQ(step.Run("left-to-right"), (std::vector<std::set<Position>>{{0}, {2}, {3}}));
}

}  // namespace
}  // namespace punt
