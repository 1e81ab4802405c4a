#include "plan/scripted_step_testing.h"

namespace punt {
namespace {

using Set = std::set<Position>;
using Steps = std::vector<Set>;

TEST(Hybrid, SwitchesAfterTheStepThatReachesTheShare) {
  HandMadeStep step(8);  // top-k:k=3 reaches 4 of 8 in its second step
  step.SetProbs({0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2});
  EXPECT_EQ(step.Run("hybrid:first=(top-k:k=3),then=(left-to-right),at=0.5"), (Steps{{0, 1, 2}, {3, 4, 5}, {6}, {7}}));
  HandMadeStep exact(8);
  EXPECT_EQ(exact.Run("hybrid:first=(top-k:k=1),then=(top-k:k=9),at=0.25"), (Steps{{0}, {1}, {2, 3, 4, 5, 6, 7}}));
}

TEST(Hybrid, ZeroAndOneAreThePlannersAlone) {
  HandMadeStep zero(6);
  EXPECT_EQ(zero.Run("hybrid:first=(top-k:k=9),then=(left-to-right),at=0").size(), 6u);
  HandMadeStep one(6);
  EXPECT_EQ(one.Run("hybrid:first=(left-to-right),then=(top-k:k=9),at=1").size(), 6u);
}

TEST(Hybrid, SharesThatAreNotWholeCounts) {
  HandMadeStep step(10);  // three commits are 0.3 of ten, however that rounds
  EXPECT_EQ(step.Run("hybrid:first=(left-to-right),then=(top-k:k=99),at=0.3").size(), 4u);
  HandMadeStep more(10);
  EXPECT_EQ(more.Run("hybrid:first=(left-to-right),then=(top-k:k=99),at=0.31").size(), 5u);
}

TEST(Hybrid, TheSecondStartsAfresh) {
  // After four commits the rest is a scope of its own: dilated sees indices 0..3, timestep its step 0.
  HandMadeStep geometric(8);
  EXPECT_EQ(geometric.Run("hybrid:first=(left-to-right),then=(dilated:log_window=2),at=0.5"),
            (Steps{{0}, {1}, {2}, {3}, {4, 6}, {5, 7}}));
  HandMadeStep scheduled(8);
  const Steps steps = scheduled.Run("hybrid:first=(left-to-right),then=(timestep:steps=4,eps=0),at=0.5");
  EXPECT_EQ(steps, (Steps{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}}));
}

TEST(Hybrid, TheClockOfAWindowStartsWithTheWindow) {
  // The second window of a run: entered in step 7, with the switch after its second step.
  HandMadeStep step(8);
  for (Position i = 0; i < 4; ++i) step.Fill(i, i);
  step.scope = {4, 5, 6, 7};
  step.key.step = 7;
  EXPECT_EQ(step.Run("hybrid:first=(left-to-right),then=(timestep:steps=2,eps=0),at=0.5"), (Steps{{4}, {5}, {6}, {7}}));
}

// A first planner that remasks: counts of earlier steps shrink in hindsight, the switch must not move.
TEST(Hybrid, FindsTheSwitchThoughHistoryWasLost) {
  HandMadeStep step(6);
  step.Fill(0, 0);
  step.Fill(1, 0);
  step.canvas.Remask(0);  // in step 1, which also committed 2 and 3: three filled after it
  step.Fill(2, 1);
  step.Fill(3, 1);
  step.key.step = 2;
  step.scope_step = 2;
  const std::string spec = "hybrid:first=(left-to-right),then=(top-k:k=9),at=0.5";
  EXPECT_EQ(step.Commits(spec), (Set{0, 4, 5}));
}

// A second planner that remasks must not reach what the first one committed, nor undo the switch.
TEST(Hybrid, TheSecondCannotRemaskWhatTheFirstCommitted) {
  const std::shared_ptr<const Planner> planner = MakePlanner("hybrid:first=(top-k:k=2),then=(p2:steps=6,eta=5),at=0.5");
  EXPECT_TRUE(planner->needs().revealed_rows);
  HandMadeStep step(12);
  step.SetProbs({0.01, 0.02, 0.9, 0.8, 0.7, 0.6, 0.5, 0.45, 0.4, 0.35, 0.3, 0.25});
  Set first;
  int remasks = 0;
  for (int i = 0; !step.canvas.is_full() && i < 50; ++i) {
    const Plan plan = step.Decide(*planner);
    if (i < 3) {
      EXPECT_EQ(plan.commit.size(), 2u);
      first.insert(plan.commit.begin(), plan.commit.end());
    } else {
      // p2 over six positions: 5, 4, ..., 0 of them masked after its steps.
      for (Position position : plan.remask) EXPECT_FALSE(first.contains(position));
      remasks += static_cast<int>(plan.remask.size());
    }
    step.Apply(plan);
    if (i >= 3) {
      EXPECT_EQ(step.canvas.masked_count(), 5 - (i - 3));
    }
    for (Position p = 0; p < 12; ++p) step.at(p).token_prob = ((p * 7 + i * 5) % 11 + 1) / 12.0;
  }
  EXPECT_TRUE(step.canvas.is_full());
  EXPECT_GT(remasks, 0);
}

TEST(Hybrid, NeedsAreTheUnion) {
  const PlannerNeeds needs = MakePlanner("hybrid:first=(klass:history=4),then=(p2)")->needs();
  EXPECT_EQ(needs.divergence_history, 4);
  EXPECT_TRUE(needs.revealed_rows);
  EXPECT_FALSE(MakePlanner("hybrid")->needs().revealed_rows);
}

TEST(Hybrid, AnyTwoPlannersFinish) {
  for (const PlannerRow& first : Planners()) {
    for (const PlannerRow& then : Planners()) {
      HandMadeStep step(9);
      step.Run("hybrid:first=(" + std::string(first.name) + "),then=(" + std::string(then.name) + ")", 3000);
      EXPECT_TRUE(step.canvas.is_full()) << first.name << " then " << then.name;
    }
  }
}

}  // namespace
}  // namespace punt
