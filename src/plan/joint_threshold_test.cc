#include "plan/scripted_step_testing.h"

namespace punt {
namespace {

using Positions = std::vector<Position>;
using Set = std::set<Position>;

TEST(JointThreshold, CommitsEverythingAboveTau) {
  HandMadeStep step(4);
  step.SetProbs({0.71, 0.7, 0.95, 0.2});
  EXPECT_EQ(step.Commits("joint-threshold"), (Set{0, 2}));
  EXPECT_EQ(step.Commits("joint-threshold:tau=0.1"), (Set{0, 1, 2, 3}));
}

TEST(JointThreshold, CommitsTheMostProbableWhenNoneIsAboveTau) {
  HandMadeStep step(3);
  step.SetProbs({0.3, 0.5, 0.4});
  step.at(2).confidence = 0.9;  // the best by another score
  EXPECT_EQ(step.Commits("joint-threshold"), (Set{1}));
}

TEST(JointThreshold, EditsWhereAnotherTokenIsSureEnough) {
  HandMadeStep step(6);
  for (Position i = 0; i < 5; ++i) step.Fill(i, 0);  // all hold token 0
  step.SetProbs({0.9, 0.9, 0.5, 0.51, 0.2, 0.1});
  for (Position i = 1; i < 5; ++i) step.at(i).token = 1;
  EXPECT_EQ(step.Decide("joint-threshold").edit, (Positions{1, 3}));
  EXPECT_EQ(step.Decide("joint-threshold:edit=0").edit, (Positions{1, 2, 3, 4}));
  EXPECT_TRUE(step.Decide("joint-threshold:edit=1").edit.empty());
}

TEST(JointThreshold, AFullWindowIsOnlyEdited) {
  HandMadeStep step(2);
  for (Position i = 0; i < 2; ++i) step.Fill(i, 0);
  step.at(1).token = 1;
  step.at(1).token_prob = 0.8;
  const Plan plan = step.Decide("joint-threshold");
  EXPECT_TRUE(plan.commit.empty());
  EXPECT_EQ(plan.edit, (Positions{1}));
}

TEST(JointThreshold, AsksToSeeFullWindowsAsOftenAsItMayEditThem) {
  EXPECT_EQ(MakePlanner("joint-threshold")->needs().revisits, 16);
  EXPECT_EQ(MakePlanner("joint-threshold:post=0")->needs().revisits, 0);
  EXPECT_TRUE(MakePlanner("joint-threshold")->needs().revealed_rows);
  EXPECT_EQ(MakePlanner("adas:of=(joint-threshold)")->needs().revisits, 0) << "combinations do not revisit";
}

}  // namespace
}  // namespace punt
