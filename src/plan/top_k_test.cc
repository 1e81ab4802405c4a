#include "plan/scripted_step_testing.h"

namespace punt {
namespace {

using Set = std::set<Position>;

TEST(TopK, CommitsTheBest) {
  HandMadeStep step(5);
  step.SetProbs({0.1, 0.9, 0.3, 0.8, 0.2});
  EXPECT_EQ(step.Decide("top-k").commit, (std::vector<Position>{1}));
  EXPECT_EQ(step.Decide("top-k:k=3").commit, (std::vector<Position>{1, 3, 2}));
  EXPECT_EQ(step.Decide("top-k:k=9").commit.size(), 5u);
}

TEST(TopK, TakesCeilOfGOverKSteps) {
  for (int k = 1; k <= 8; ++k) {
    HandMadeStep step(7);
    EXPECT_EQ(step.Run("top-k:k=" + std::to_string(k)).size(), static_cast<std::size_t>((7 + k - 1) / k));
  }
}

TEST(TopK, AsksNothing) {
  HandMadeStep step(7);
  step.Run("top-k:k=2");
  EXPECT_EQ(step.probe.calls, 0);
}

}  // namespace
}  // namespace punt
