#include "plan/scripted_step_testing.h"
#include "punt/random.h"

namespace punt {
namespace {

using Set = std::set<Position>;

TEST(Dapd, CommitsEverythingThatIsNotLinked) {
  HandMadeStep step(5);
  step.SetProbs({0.3, 0.2, 0.5, 0.1, 0.4});
  EXPECT_EQ(step.Commits("dapd"), (Set{0, 1, 2, 3, 4}));
}

TEST(Dapd, KeepsLinkedOnesApartInEitherDirection) {
  for (const auto& [query, key] : {std::pair{0, 1}, {1, 0}}) {
    HandMadeStep step(3);
    step.SetProbs({0.5, 0.4, 0.3});
    step.Look(query, key, 0.021f);  // half of it is 0.0105
    EXPECT_EQ(step.Commits("dapd"), (Set{0, 2}));
    step.Look(query, key, 0.019f);
    EXPECT_EQ(step.Commits("dapd"), (Set{0, 1, 2}));
  }
}

TEST(Dapd, HubsComeFirst) {
  HandMadeStep step(4);  // 0 is linked to all, and more probable links do not help the others
  step.SetProbs({0.3, 0.5, 0.5, 0.5});
  for (Position i = 1; i < 4; ++i) step.Look(i, 0, 0.2f);
  EXPECT_EQ(step.Commits("dapd"), (Set{0}));
  step.at(0).token_prob = 0.1;  // 0.3 * 0.1 < 0.1 * 0.5
  EXPECT_EQ(step.Commits("dapd"), (Set{1, 2, 3}));
}

TEST(Dapd, TheThresholdGrowsAsMasksVanish) {
  HandMadeStep step(10);
  step.Look(8, 9, 0.05f);  // s = 0.025: an edge while tau < 0.025, that is until 0.375 of the scope is there
  for (Position i = 0; i < 3; ++i) step.Fill(i, 0);
  EXPECT_EQ(step.Commits("dapd").size(), 6u);
  step.Fill(3, 0);
  EXPECT_EQ(step.Commits("dapd").size(), 6u);
}

TEST(Dapd, LateOnlyProbabilityCounts) {
  HandMadeStep step(6);
  step.SetProbs({0.5, 0.5, 0.5, 0.95, 0.91, 0.9});
  step.Look(3, 4, 0.9f);
  step.Fill(0, 0);
  step.Fill(1, 0);
  step.Fill(2, 0);  // half is masked: still the graph
  EXPECT_EQ(step.Commits("dapd"), (Set{3, 5}));
  EXPECT_EQ(step.Commits("dapd:switch_at=0.51"), (Set{3, 4}));
  EXPECT_EQ(step.Commits("dapd:switch_at=0.51,fast=0.99"), (Set{3}));
}

TEST(Dapd, DeprioritisedProposalsWait) {
  HandMadeStep step(3);
  step.at(1).confidence = kDeprioritised;
  EXPECT_EQ(step.Commits("dapd"), (Set{0, 2}));
  for (Position i = 0; i < 3; ++i) step.at(i).confidence = kDeprioritised;
  EXPECT_EQ(step.Commits("dapd"), (Set{0}));
}

TEST(Dapd, AsksForTheLastLayers) {
  EXPECT_EQ(MakePlanner("dapd")->needs().attention, (std::vector<LayerRange>{{0.7, 1}}));
}

// Whatever the map: no two commits are linked, everything else is linked to a commit, and the first of the order is
// there.
TEST(Dapd, IsAMaximalIndependentSetBuiltInOrder) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const int length = 10;
    HandMadeStep step(length);
    std::vector<double> probs;
    for (Position i = 0; i < length; ++i) {
      RandomStream stream({seed, 0, 0}, i, Purpose::kToyModel);
      probs.push_back(stream.Uniform());
      for (Position j = 0; j < length; ++j) step.Look(i, j, static_cast<float>(0.03 * stream.Uniform()));
    }
    step.SetProbs(probs);
    const auto link = [&](Position a, Position b) {
      return (static_cast<double>(step.attention[static_cast<std::size_t>(a * length + b)]) +
              static_cast<double>(step.attention[static_cast<std::size_t>(b * length + a)])) /
             2;
    };
    std::vector<std::pair<double, Position>> order;  // the literal reading
    for (Position i = 0; i < length; ++i) {
      double degree = 0;
      for (Position j = 0; j < length; ++j) degree += j == i ? 0 : link(i, j);
      order.emplace_back(-degree * probs[static_cast<std::size_t>(i)], i);
    }
    std::sort(order.begin(), order.end());
    Set expected;
    for (const auto& [key, i] : order) {
      if (std::none_of(expected.begin(), expected.end(), [&](Position e) { return link(i, e) > 0.01; })) {
        expected.insert(i);
      }
    }
    const Set commits = step.Commits("dapd");
    EXPECT_EQ(commits, expected) << "seed " << seed;
    for (Position i = 0; i < length; ++i) {
      const auto linked =
          std::count_if(commits.begin(), commits.end(), [&](Position c) { return c != i && link(i, c) > 0.01; });
      EXPECT_EQ(linked == 0, commits.contains(i)) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace punt
