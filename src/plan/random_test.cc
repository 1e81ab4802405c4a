#include <map>

#include "plan/scripted_step_testing.h"

namespace punt {
namespace {

TEST(Random, OnePerStepByDefault) {
  HandMadeStep step(9);
  EXPECT_EQ(step.Run("random").size(), 9u);
  HandMadeStep three(9);
  EXPECT_EQ(three.Run("random:k=4").size(), 3u);
}

TEST(Random, EveryPositionIsEquallyLikely) {
  HandMadeStep step(4);
  step.SetProbs({0.9, 0.1, 0.5, 0.3});
  std::map<Position, int> count;
  const int draws = 20000;
  const std::shared_ptr<const Planner> planner = MakePlanner("random");
  for (int seed = 0; seed < draws; ++seed) {
    step.key.seed = static_cast<std::uint64_t>(seed);
    ++count[step.Decide(*planner).commit.front()];
  }
  for (Position i = 0; i < 4; ++i) EXPECT_NEAR(count[i] / double{draws}, 0.25, 5 * 0.0031);
}

TEST(Random, EveryPairIsEquallyLikely) {
  HandMadeStep step(4);
  std::map<std::set<Position>, int> count;
  const int draws = 12000;
  const std::shared_ptr<const Planner> planner = MakePlanner("random:k=2");
  for (int seed = 0; seed < draws; ++seed) {
    step.key.seed = static_cast<std::uint64_t>(seed);
    ++count[step.Commits(*planner)];
  }
  EXPECT_EQ(count.size(), 6u);
  for (const auto& [pair, times] : count) EXPECT_NEAR(times / double{draws}, 1.0 / 6, 5 * 0.0035);
}

TEST(Random, DependsOnSeedSampleAndStepOnly) {
  HandMadeStep step(64);
  const Plan plan = step.Decide("random:k=8");
  EXPECT_EQ(step.Decide("random:k=8").commit, plan.commit);
  for (StreamKey key : {StreamKey{1, 0, 0}, StreamKey{0, 1, 0}, StreamKey{0, 0, 1}}) {
    step.key = key;
    EXPECT_NE(step.Decide("random:k=8").commit, plan.commit);
  }
}

}  // namespace
}  // namespace punt
