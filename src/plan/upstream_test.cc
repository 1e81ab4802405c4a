#include "plan/scripted_step_testing.h"
#include "punt/random.h"

namespace punt {
namespace {

using Set = std::set<Position>;

TEST(Upstream, WaitsForWhatStandsBefore) {
  HandMadeStep step(6);
  step.SetProbs({0.95, 0.2, 0.95, 0.2, 0.95, 0.2});
  for (Position i = 0; i < 6; ++i) step.at(i).entropy = i % 2 == 0 ? 0.1 : 2.5;
  // Before 0: nothing; before 2: 2.5; before 4: 5.
  EXPECT_EQ(step.Commits("upstream"), (Set{0, 2}));
  EXPECT_EQ(step.Commits("upstream:beta=5"), (Set{0, 2, 4}));
  EXPECT_EQ(step.Commits("upstream:beta=2"), (Set{0}));
  EXPECT_EQ(step.Commits("upstream:beta=0"), (Set{0}));
}

TEST(Upstream, WhatIsRejectedAddsItsDoubt) {
  HandMadeStep step(4);
  step.SetProbs({0.5, 0.95, 0.95, 0.95});
  step.at(0).entropy = 3;
  step.at(1).entropy = 0.2;
  step.at(2).entropy = 0.2;
  EXPECT_EQ(step.Commits("upstream:beta=3"), (Set{1, 2, 3}));
  EXPECT_EQ(step.Commits("upstream:beta=2.9"), (Set{1}));  // none accepted: the most probable, ties to the left
}

TEST(Upstream, WithoutACandidateTheBestOfTheFirstMasks) {
  HandMadeStep step(6);
  step.SetProbs({0.1, 0.3, 0.2, 0.5, 0.4, 0.89});
  EXPECT_EQ(step.Commits("upstream"), (Set{5}));
  EXPECT_EQ(step.Commits("upstream:window=5"), (Set{3}));
  EXPECT_EQ(step.Commits("upstream:window=3"), (Set{1}));
  EXPECT_EQ(step.Commits("upstream:window=1"), (Set{0}));
  step.Fill(0, 0);
  EXPECT_EQ(step.Commits("upstream:window=1"), (Set{1}));
}

// The best of the inner threshold is committed whatever its probability; that does not make it a candidate.
TEST(Upstream, TheInnerPlannersForcedCommitIsNoCandidate) {
  HandMadeStep step(4);
  step.SetProbs({0.1, 0.2, 0.3, 0.8});
  EXPECT_EQ(step.Commits("upstream:window=2"), (Set{1}));
  EXPECT_EQ(step.Commits("upstream:window=2,floor=0.8"), (Set{3}));
  EXPECT_EQ(step.Commits("upstream:window=2,floor=0,of=(top-k:k=2)"), (Set{2, 3}));
}

TEST(Upstream, DeprioritisedProposalsCountAsImprobable) {
  HandMadeStep step(3);
  step.SetProbs({0.99, 0.5, 0.99});
  step.at(0).confidence = kDeprioritised;
  step.at(0).entropy = 9;
  EXPECT_EQ(step.Commits("upstream:window=2"), (Set{1}));
}

/// The formula, word by word: every sum anew.
Set Literal(HandMadeStep& step, double beta) {
  const Set masked = [&] {
    const std::vector<Position> all = step.canvas.MaskedIn(step.scope);
    return Set(all.begin(), all.end());
  }();
  Set accepted;
  for (Position i : masked) {
    if (step.at(i).token_prob < 0.9) continue;
    double doubt = 0;
    for (Position j : masked) {
      if (j < i && !accepted.contains(j)) doubt += step.at(j).entropy;
    }
    if (doubt <= beta) accepted.insert(i);
  }
  if (!accepted.empty()) return accepted;
  Position best = *masked.begin();
  for (Position i : masked) best = step.at(i).token_prob > step.at(best).token_prob ? i : best;
  return {best};
}

TEST(Upstream, AgreesWithTheFormula) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    HandMadeStep step(10);
    std::vector<double> probs;
    for (Position i = 0; i < 10; ++i) {
      RandomStream stream({seed, 0, 0}, i, Purpose::kToyModel);
      const double u = stream.Uniform();
      probs.push_back(1 - u * u);
      step.at(i).entropy = 2 * stream.Uniform();
    }
    step.SetProbs(probs);
    for (Position i = 0; i < 10; ++i) {
      if (RandomStream({seed, 1, 0}, i, Purpose::kToyModel).Uniform() < 0.2 && i > 0) step.Fill(i, 0);
    }
    EXPECT_EQ(step.Commits("upstream:beta=1.5"), Literal(step, 1.5)) << "seed " << seed;
  }
}

TEST(Upstream, DropsThePassOfAnotherCanvas) {
  HandMadeStep step(4);
  step.SetProbs({0.5, 0.6, 0.7, 0.79});
  const std::string look_ahead = "of=(info-gain:k=2,position_temperature=5),floor=0";
  EXPECT_NE(step.Decide("upstream:" + look_ahead).next_base, nullptr);
  for (Position i = 0; i < 4; ++i) step.at(i).entropy = 5;
  EXPECT_EQ(step.Decide("upstream:" + look_ahead).next_base, nullptr);
}

TEST(Upstream, PassesNeedsOn) {
  EXPECT_TRUE(MakePlanner("upstream:of=(p2)")->needs().revealed_rows);
  EXPECT_EQ(MakePlanner("upstream:of=(klass:history=3)")->needs().divergence_history, 3);
}

TEST(Upstream, EveryInnerPlannerStillFinishes) {
  for (const PlannerRow& row : Planners()) {
    HandMadeStep step(12);
    step.Run("upstream:floor=0,of=(" + std::string(row.name) + ")", 2000);
    EXPECT_TRUE(step.canvas.is_full()) << row.name;
  }
}

}  // namespace
}  // namespace punt
