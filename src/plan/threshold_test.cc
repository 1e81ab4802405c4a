#include "plan/scripted_step_testing.h"

namespace punt {
namespace {

using Set = std::set<Position>;

TEST(Threshold, CommitsTheBestAndAllThatReachTau) {
  HandMadeStep step(5);
  step.SetProbs({0.95, 0.89, 0.9, 0.2, 0.99});
  EXPECT_EQ(step.Decide("threshold").commit, (std::vector<Position>{4, 0, 2}));
  EXPECT_EQ(step.Commits("threshold:tau=0.2"), (Set{0, 1, 2, 3, 4}));
}

TEST(Threshold, CommitsTheBestWhenNoneReachesTau) {
  HandMadeStep step(3);
  step.SetProbs({0.3, 0.5, 0.4});
  EXPECT_EQ(step.Commits("threshold"), (Set{1}));
}

TEST(Threshold, ComparesTokenProbabilityNotTheScore) {
  HandMadeStep step(3);
  for (Position i = 0; i < 3; ++i) step.at(i).confidence = -1.0 - i;
  step.at(2).token_prob = 0.97;
  EXPECT_EQ(step.Commits("threshold"), (Set{0, 2}));
}

TEST(Threshold, DeprioritisedProposalsCountAsImprobable) {
  HandMadeStep step(3);
  step.SetProbs({0.5, 0.99, 0.99});
  step.at(1).confidence = kDeprioritised;
  EXPECT_EQ(step.Commits("threshold"), (Set{2}));
  step.Fill(0, 0);
  step.Fill(2, 0);
  EXPECT_EQ(step.Commits("threshold"), (Set{1}));
}

}  // namespace
}  // namespace punt
