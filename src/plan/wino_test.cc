#include "plan/scripted_step_testing.h"

namespace punt {
namespace {

using Set = std::set<Position>;

TEST(Wino, DraftsEverythingAboveTau) {
  HandMadeStep step(5);
  step.SetProbs({0.61, 0.6, 0.95, 0.2, 0.7});
  EXPECT_EQ(step.Commits("wino"), (Set{0, 2, 4}));
  EXPECT_EQ(step.Commits("wino:tau=0.1"), (Set{0, 1, 2, 3, 4}));
}

TEST(Wino, DraftsTheBestWhenNoneIsAboveTau) {
  HandMadeStep step(3);
  step.SetProbs({0.3, 0.5, 0.4});
  EXPECT_EQ(step.Commits("wino"), (Set{1}));
}

TEST(Wino, CapsTheDraftBetweenFiveAndTwenty) {
  for (const auto& [length, drafts] : {std::pair{6, 5}, {20, 14}, {100, 20}}) {
    HandMadeStep step(length);
    step.SetProbs(std::vector<double>(static_cast<std::size_t>(length), 0.99));
    EXPECT_EQ(static_cast<int>(step.Commits("wino").size()), drafts) << length;
  }
}

TEST(Wino, TakesBackWhatItsShadowDoubtsLeastProbableFirst) {
  HandMadeStep step(8);
  for (Position i = 0; i < 4; ++i) step.Fill(i, 0);
  step.key.step = 1;
  step.shadows = {{0, 0.95}, {1, 0.3}, {2, 0.1}, {3, 0.89}};
  // Four were accepted by the step before, so three may go.
  EXPECT_EQ(step.Decide("wino").remask, (std::vector<Position>{2, 1, 3}));
  EXPECT_EQ(step.Decide("wino:tau_back=0.2").remask, (std::vector<Position>{2}));
  EXPECT_TRUE(step.Decide("wino:tau_back=0").remask.empty());
}

TEST(Wino, TakesBackFewerThanTheStepBeforeAccepted) {
  HandMadeStep step(8);
  step.Fill(0, 0);
  step.Fill(1, 0);
  step.Fill(2, 1);
  step.Fill(3, 1);
  step.shadows = {{0, 0.1}, {1, 0.2}, {2, 0.3}, {3, 0.4}};
  step.key.step = 2;
  EXPECT_EQ(step.Decide("wino").remask, (std::vector<Position>{0}));
  step.key.step = 3;  // the step before accepted none of these
  EXPECT_TRUE(step.Decide("wino").remask.empty());
}

TEST(Wino, EndsThoughEveryShadowDoubts) {
  HandMadeStep step(30);
  step.SetProbs(std::vector<double>(30, 0.9));
  const std::shared_ptr<const Planner> planner = MakePlanner("wino");
  int steps = 0;
  while (!step.canvas.is_full()) {
    ASSERT_LT(steps++, 31);
    step.shadows.clear();
    for (Position i = 0; i < 30; ++i) {
      if (!step.canvas.is_masked(i)) step.shadows.push_back({i, 0.0});
    }
    step.Apply(step.Decide(*planner));
  }
}

}  // namespace
}  // namespace punt
