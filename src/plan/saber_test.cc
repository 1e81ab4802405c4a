#include "plan/scripted_step_testing.h"
#include "punt/random.h"

namespace punt {
namespace {

using Set = std::set<Position>;
using Positions = std::vector<Position>;

/// The confidence of the position in the step before and in this one.
void Said(HandMadeStep& step, Position position, double before, double now) {
  step.canvas.RecordPrediction(position, {0, before}, 2);
  step.canvas.RecordPrediction(position, {0, now}, 2);
}

TEST(Saber, AsksForTheRowsOfCommittedTokens) {
  EXPECT_TRUE(MakePlanner("saber")->needs().revealed_rows);
  EXPECT_EQ(MakePlanner("saber")->needs().prediction_history, 2);
}

TEST(Saber, StartsWithTheMostProbable) {
  HandMadeStep step(5);
  step.SetProbs({0.3, 0.9, 0.5, 0.8, 0.4});
  EXPECT_EQ(step.Commits("saber"), (Set{1, 3}));
  EXPECT_EQ(step.Commits("saber:n=3"), (Set{1, 2, 3}));
}

TEST(Saber, TakesWhatIsAboveTheMeanOfTheRun) {
  HandMadeStep step(7);
  step.SetProbs({0.5, 0.5, 0.71, 0.7, 0.75, 0.9, 0.2});
  step.Fill(0, 0, 0.8);
  step.Fill(1, 0, 0.6);  // the mean is 0.7
  EXPECT_EQ(step.Commits("saber"), (Set{2, 4, 5}));
}

TEST(Saber, TakesBackWhereConfidenceFellMost) {
  HandMadeStep step(6);
  step.SetProbs({0.5, 0.5, 0.5, 0.9, 0.8, 0.1});
  for (Position i = 0; i < 3; ++i) step.Fill(i, 0, 0.99);
  Said(step, 0, 0.9, 0.8);
  Said(step, 1, 0.9, 0.5);
  Said(step, 2, 0.9, 0.95);
  const Plan plan = step.Decide("saber");
  EXPECT_EQ(plan.commit, (Positions{3, 4}));
  EXPECT_EQ(plan.remask, (Positions{1}));
}

TEST(Saber, WhatIsTakenBackAtOnceIsNotCommitted) {
  HandMadeStep step(5);
  step.SetProbs({0.5, 0.9, 0.8, 0.1, 0.1});
  step.Fill(0, 0, 0.99);
  Said(step, 0, 0.5, 0.6);
  Said(step, 1, 0.95, 0.9);  // fell most, though it is the surest
  const Plan plan = step.Decide("saber");
  EXPECT_EQ(plan.commit, (Positions{2}));
  EXPECT_TRUE(plan.remask.empty());
}

TEST(Saber, OneForEveryMuTokensAndAlwaysFewerThanTaken) {
  HandMadeStep step(30);
  std::vector<double> probs(30, 0.9);
  probs[29] = 0.1;  // one stays masked
  step.SetProbs(probs);
  for (Position i = 0; i < 10; ++i) {
    step.Fill(i, 0, 0.5);
    Said(step, i, 0.9, 0.1);
  }
  EXPECT_EQ(step.Decide("saber").remask.size(), 3u);  // 19 taken, by eights
  EXPECT_EQ(step.Decide("saber:mu=4").remask.size(), 5u);
  EXPECT_EQ(step.Decide("saber:mu=1,n=2").remask.size(), 10u);  // all that there are
  EXPECT_EQ(step.Decide("saber:n=8").remask.size(), 4u);
  HandMadeStep two(4);
  two.Fill(0, 0, 0.99);
  Said(two, 0, 0.9, 0.1);
  EXPECT_EQ(two.Decide("saber:mu=1").remask.size(), 1u);
  EXPECT_TRUE(two.Decide("saber:n=1").remask.empty());
}

TEST(Saber, AStepThatFillsTheScopeTakesNothingBack) {
  HandMadeStep step(3);
  step.Fill(0, 0, 0.9);
  Said(step, 0, 0.9, 0.1);
  const Plan plan = step.Decide("saber");
  EXPECT_EQ(plan.commit.size(), 2u);
  EXPECT_TRUE(plan.remask.empty());
}

TEST(Saber, DeprioritisedProposalsCountAsImprobable) {
  HandMadeStep step(4);
  step.SetProbs({0.9, 0.8, 0.7, 0.6});
  step.at(0).confidence = kDeprioritised;
  EXPECT_EQ(step.Commits("saber"), (Set{1, 2}));
}

// Whatever confidences do, every step wins a position.
TEST(Saber, EndsThoughConfidenceAlwaysFalls) {
  HandMadeStep step(40);
  const std::shared_ptr<const Planner> planner = MakePlanner("saber:mu=1");
  int masked = 40;
  int remasks = 0;
  for (int i = 0; !step.canvas.is_full(); ++i) {
    ASSERT_LT(i, 40);
    std::vector<double> probs;
    for (Position p = 0; p < 40; ++p) {
      const double u = RandomStream({7, 0, static_cast<std::uint64_t>(i)}, p, Purpose::kToyModel).Uniform();
      probs.push_back(u);
      step.canvas.RecordPrediction(p, {0, 1 - 0.01 * i}, 2);
    }
    step.SetProbs(probs);
    const Plan plan = step.Decide(*planner);
    remasks += static_cast<int>(plan.remask.size());
    step.Apply(plan);
    EXPECT_LT(step.canvas.masked_count(), masked);
    masked = step.canvas.masked_count();
  }
  EXPECT_GT(remasks, 5);
}

}  // namespace
}  // namespace punt
