#include "plan/scripted_step_testing.h"
#include "punt/random.h"

namespace punt {
namespace {

using Set = std::set<Position>;

TEST(Distilled, CommitsEverythingWithoutInfluence) {
  HandMadeStep step(4);
  EXPECT_EQ(step.Commits("distilled:epsilon=0"), (Set{0, 1, 2, 3}));
  EXPECT_EQ(step.probe.calls, 0);
}

TEST(Distilled, OnlyWhatTheBetterDoToTheWorseCounts) {
  HandMadeStep step(3);
  step.SetProbs({0.5, 0.9, 0.3});
  step.Influence(0, 1, 1);  // of the worse on the better
  EXPECT_EQ(step.Commits("distilled"), (Set{0, 1, 2}));
  step.Influence(1, 0, 0.05f);
  EXPECT_EQ(step.Commits("distilled"), (Set{1, 2}));
  EXPECT_EQ(step.Commits("distilled:epsilon=0.06"), (Set{0, 1, 2}));
}

TEST(Distilled, WhatWasDroppedInfluencesNobody) {
  HandMadeStep step(3);
  step.SetProbs({0.9, 0.8, 0.7});
  step.Influence(0, 1, 1);
  step.Influence(1, 2, 1);
  EXPECT_EQ(step.Commits("distilled"), (Set{0, 2}));
}

TEST(Distilled, InfluencesAddUpUnlessTheLargestAloneIsAskedFor) {
  HandMadeStep step(4);
  step.SetProbs({0.9, 0.8, 0.7, 0.6});
  for (Position i = 0; i < 3; ++i) step.Influence(i, 3, 0.015f);
  EXPECT_EQ(step.Commits("distilled"), (Set{0, 1, 2}));
  EXPECT_EQ(step.Commits("distilled:together=max"), (Set{0, 1, 2, 3}));
  EXPECT_EQ(step.Commits("distilled:together=max,epsilon=0.01"), (Set{0, 1, 2}));
}

TEST(Distilled, TheFirstIsAlwaysThere) {
  HandMadeStep step(3);
  step.SetProbs({0.2, 0.9, 0.3});
  for (Position i = 0; i < 3; ++i) {
    for (Position j = 0; j < 3; ++j) step.Influence(i, j, 100);
  }
  EXPECT_EQ(step.Commits("distilled:epsilon=0"), (Set{1}));
}

TEST(Distilled, AsksForInfluenceAndRunsNoTests) {
  EXPECT_EQ(MakePlanner("distilled")->needs(), PlannerNeeds{.influence = true});
  EXPECT_TRUE(MakePlanner("hybrid:first=(top-k),then=(distilled)")->needs().influence);
}

TEST(Distilled, CombinatorsHandTheInfluenceOn) {
  HandMadeStep step(4);
  step.SetProbs({0.9, 0.8, 0.7, 0.6});
  step.Influence(0, 2, 1);
  EXPECT_EQ(step.Commits("hybrid:first=(top-k),then=(distilled),at=0"), (Set{0, 1, 3}));
  EXPECT_EQ(step.Commits("spacing:planner=(distilled),gap=2"), (Set{0, 3}));
}

// The literal reading, whatever the matrix: the chosen before it move nobody by more than epsilon, and everybody else
// by more.
TEST(Distilled, IsGreedyByConfidence) {
  constexpr double kEpsilon = 0.5;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const int length = 9;
    HandMadeStep step(length);
    std::vector<double> probs;
    for (Position i = 0; i < length; ++i) {
      RandomStream stream({seed, 0, 0}, i, Purpose::kToyModel);
      probs.push_back(stream.Uniform());
      for (Position j = 0; j < length; ++j) step.Influence(i, j, static_cast<float>(0.5 * stream.Uniform()));
    }
    step.SetProbs(probs);
    const Set commits = step.Commits("distilled:epsilon=0.5");
    for (Position j = 0; j < length; ++j) {
      double moved = 0;
      for (Position i : commits) {
        const bool is_better = probs[static_cast<std::size_t>(i)] > probs[static_cast<std::size_t>(j)];
        if (is_better) moved += static_cast<double>(step.influence[static_cast<std::size_t>(i * length + j)]);
      }
      EXPECT_EQ(commits.contains(j), moved <= kEpsilon) << "seed " << seed << ", position " << j;
    }
  }
}

}  // namespace
}  // namespace punt
