#include "plan/scripted_step_testing.h"

namespace punt {
namespace {

using Positions = std::vector<Position>;

TEST(Spacing, KeepsBestFirstAtLeastGapApart) {
  HandMadeStep step(8);
  step.SetProbs({0.1, 0.2, 0.9, 0.8, 0.7, 0.3, 0.6, 0.5});  // order 2 3 4 6 7 5 1 0
  EXPECT_EQ(step.Decide("spacing:gap=2,planner=(top-k:k=8)").commit, (Positions{2, 4, 6, 0}));
  EXPECT_EQ(step.Decide("spacing:gap=3,planner=(top-k:k=8)").commit, (Positions{2, 6}));
  EXPECT_EQ(step.Decide("spacing:gap=100,planner=(top-k:k=8)").commit, (Positions{2}));
  EXPECT_EQ(step.Decide("spacing:gap=1,planner=(top-k:k=8)").commit.size(), 8u);
}

TEST(Spacing, DistanceIsInTheCanvas) {
  const Token mask = HandMadeStep::kMask;
  HandMadeStep step({mask, 0, 0, mask, mask});
  EXPECT_EQ(step.Decide("spacing:gap=3,planner=(top-k:k=8)").commit, (Positions{0, 3}));
}

TEST(Spacing, DropsThePassOfAnotherCanvas) {
  HandMadeStep step(6);
  const std::string look_ahead = "(info-gain:k=2,candidates=8,position_temperature=5)";
  step.probe.entropy = [](const std::set<Position>& anchors, Position) {
    return anchors == std::set<Position>{2, 3} ? 0.0 : 1.0;
  };
  for (int seed = 0;; ++seed) {  // a seed with {2, 3} among the candidates
    ASSERT_LT(seed, 100);
    step.key.seed = static_cast<std::uint64_t>(seed);
    const Plan inner = step.Decide("spacing:gap=1,planner=" + look_ahead);
    ASSERT_NE(inner.next_base, nullptr);
    if (inner.commit != Positions{2, 3}) continue;
    const Plan spaced = step.Decide("spacing:gap=2,planner=" + look_ahead);
    EXPECT_EQ(spaced.commit, (Positions{2}));
    EXPECT_EQ(spaced.next_base, nullptr);
    break;
  }
}

TEST(Spacing, PassesNeedsAndRemasksThrough) {
  EXPECT_TRUE(MakePlanner("spacing:planner=(p2)")->needs().revealed_rows);
  EXPECT_EQ(MakePlanner("spacing:planner=(klass:history=3)")->needs().divergence_history, 3);
  HandMadeStep step(4);
  step.SetProbs({0.1, 0.9, 0.8, 0.7});
  step.Fill(0, 0);
  step.scope_step = 2;
  const Plan plan = step.Decide("spacing:planner=(p2:steps=4)");
  EXPECT_EQ(plan.remask, (Positions{0}));
  EXPECT_EQ(plan.commit, (Positions{1, 3}));
}

TEST(Spacing, EveryInnerPlannerStillFinishes) {
  for (const PlannerRow& row : Planners()) {
    HandMadeStep step(12);
    step.Run("spacing:gap=3,planner=(" + std::string(row.name) + ")", 2000);
    EXPECT_TRUE(step.canvas.is_full()) << row.name;
  }
}

}  // namespace
}  // namespace punt
