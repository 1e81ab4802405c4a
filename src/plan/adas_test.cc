#include "plan/scripted_step_testing.h"
#include "punt/random.h"

namespace punt {
namespace {

using Positions = std::vector<Position>;
using Set = std::set<Position>;

TEST(Adas, WithoutAttentionNothingChanges) {
  HandMadeStep step(5);
  step.SetProbs({0.3, 0.9, 0.5, 0.8, 0.4});
  EXPECT_EQ(step.Decide("adas:of=(top-k:k=3)").commit, step.Decide("top-k:k=3").commit);
  EXPECT_EQ(step.Commits("adas"), (Set{1, 2, 3, 4}));
}

TEST(Adas, WhatLooksAtAnUncertainChoiceWaits) {
  HandMadeStep step(4);
  step.SetProbs({0.8, 0.7, 0.6, 0.1});
  step.Look(1, 0, 0.1f);  // 0.7 - 40 * 0.1 * 0.2 < 0.1
  EXPECT_EQ(step.Commits("adas:of=(top-k:k=2)"), (Set{0, 2}));
  EXPECT_EQ(step.Commits("adas:of=(top-k:k=3)"), (Set{0, 2, 3}));
  EXPECT_EQ(step.Commits("adas:of=(top-k:k=2),alpha=0"), (Set{0, 1}));
}

TEST(Adas, OnlyTheLookOfTheLaterOneCounts) {
  HandMadeStep step(3);
  step.SetProbs({0.8, 0.7, 0.6});
  step.Look(0, 1, 0.5f);
  EXPECT_EQ(step.Commits("adas:of=(top-k:k=2)"), (Set{0, 1}));
}

TEST(Adas, ACertainChoiceDiscountsNobody) {
  HandMadeStep step(3);
  step.SetProbs({1.0, 0.7, 0.6});
  step.Look(1, 0, 0.9f);
  EXPECT_EQ(step.Commits("adas:of=(top-k:k=2)"), (Set{0, 1}));
}

TEST(Adas, CommitsStayInTheOrderOfTheRun) {
  HandMadeStep step(4);
  step.SetProbs({0.9, 0.8, 0.7, 0.6});
  step.Look(1, 0, 0.02f);  // 1 is added after 2 and 3
  EXPECT_EQ(step.Decide("adas:of=(top-k:k=4)").commit, (Positions{0, 1, 2, 3}));
}

TEST(Adas, DeprioritisedProposalsComeLast) {
  HandMadeStep step(3);
  step.SetProbs({0.2, 0.99, 0.3});
  step.at(1).confidence = kDeprioritised;
  EXPECT_EQ(step.Commits("adas:of=(top-k:k=2)"), (Set{0, 2}));
}

TEST(Adas, AsksForTheLastLayerAndWhatThePlannerNeeds) {
  EXPECT_EQ(MakePlanner("adas")->needs().attention, (std::vector<LayerRange>{{1, 1}}));
  EXPECT_EQ(MakePlanner("adas:layers_from=0.5,of=(dawn)")->needs().attention,
            (std::vector<LayerRange>{{0.5, 1}, {0, 1}}));
  EXPECT_EQ(MakePlanner("adas:of=(klass)")->needs().divergence_history, 2);
}

/// The formula, word by word: every utility anew.
Set Literal(HandMadeStep& step, std::size_t k, double alpha) {
  Set chosen;
  while (chosen.size() < k) {
    Position best = -1;
    double most = 0;
    for (Position i = 0; i < step.canvas.length(); ++i) {
      if (chosen.contains(i)) continue;
      double utility = step.at(i).token_prob;
      for (Position s : chosen) {
        const auto place = static_cast<std::size_t>(i * step.canvas.length() + s);
        utility -= alpha * static_cast<double>(step.attention[place]) * (1 - step.at(s).token_prob);
      }
      if (best < 0 || utility > most) {
        best = i;
        most = utility;
      }
    }
    chosen.insert(best);
  }
  return chosen;
}

TEST(Adas, AgreesWithTheFormula) {
  int changed = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    HandMadeStep step(9);
    std::vector<double> probs;
    for (Position i = 0; i < 9; ++i) {
      RandomStream stream({seed, 0, 0}, i, Purpose::kToyModel);
      probs.push_back(stream.Uniform());
      for (Position j = 0; j < 9; ++j) step.Look(i, j, static_cast<float>(0.05 * stream.Uniform()));
    }
    step.SetProbs(probs);
    for (std::size_t k : {2u, 4u, 7u}) {
      const std::string inner = "(top-k:k=" + std::to_string(k) + ")";
      EXPECT_EQ(step.Commits("adas:of=" + inner), Literal(step, k, 40)) << "seed " << seed << ", k " << k;
      changed += step.Commits("adas:of=" + inner) != step.Commits("top-k:k=" + std::to_string(k)) ? 1 : 0;
    }
  }
  EXPECT_GT(changed, 100);
}

// The bound of entropy-bound holds on the discounted order: what is added late is not in the prefix.
TEST(Adas, PrefixRulesFollowTheOrder) {
  HandMadeStep step(3);
  step.SetProbs({0.8, 0.7, 0.6});
  step.at(0).entropy = 0.5;
  step.at(1).entropy = 0.05;
  step.at(2).entropy = 0.3;
  EXPECT_EQ(step.Commits("entropy-bound"), (Set{0, 1}));
  step.Look(1, 0, 0.1f);
  EXPECT_EQ(step.Commits("adas:of=(entropy-bound)"), (Set{0}));
}

TEST(Adas, EveryInnerPlannerStillFinishes) {
  for (const PlannerRow& row : Planners()) {
    HandMadeStep step(12);
    step.Run("adas:of=(" + std::string(row.name) + ")", 2000);
    EXPECT_TRUE(step.canvas.is_full()) << row.name;
  }
}

}  // namespace
}  // namespace punt
