#include <cmath>
#include <map>

#include "plan/scripted_step_testing.h"

namespace punt {
namespace {

using Set = std::set<Position>;

/// Enough candidates that all single positions of a small canvas are among them.
constexpr char kManyOfOne[] = "info-gain:candidates=200,position_temperature=5";

TEST(InfoGain, PicksTheBestJ) {
  HandMadeStep step(4);
  step.SetProbs({0.5, 0.4, 0.3, 0.2});
  // J(i) = -H_i - mean of the rest after i. All H equal: position 2 leaves least uncertainty behind.
  step.probe.entropy = [](const Set& anchors, Position) { return anchors.contains(2) ? 0.1 : 0.6; };
  EXPECT_EQ(step.Commits(kManyOfOne), (Set{2}));
  // The entropy of the action itself counts as well: 2 now costs more than it saves.
  step.at(2).entropy = 1.1;
  EXPECT_EQ(step.Commits(kManyOfOne), (Set{0}));
  step.at(3).entropy = 0.4;
  EXPECT_EQ(step.Commits(kManyOfOne), (Set{3}));
}

TEST(InfoGain, AveragesOverWhatStaysMasked) {
  HandMadeStep step(3);
  step.SetProbs({0.5, 0.4, 0.3});
  // After 0 the others have 0.5 and 0.5, after 1 they have 0.1 and 0.8 (mean 0.45), after 2 0.2 and 0.9.
  const std::map<std::pair<Position, Position>, double> after = {{{0, 1}, 0.5}, {{0, 2}, 0.5}, {{1, 0}, 0.1},
                                                                 {{1, 2}, 0.8}, {{2, 0}, 0.2}, {{2, 1}, 0.9}};
  step.probe.entropy = [&](const Set& anchors, Position row) { return after.at({*anchors.begin(), row}); };
  EXPECT_EQ(step.Commits(kManyOfOne), (Set{1}));
}

TEST(InfoGain, TiesGoToTheGreedySet) {
  HandMadeStep step(5);
  step.SetProbs({0.1, 0.5, 0.2, 0.4, 0.3});
  EXPECT_EQ(step.Decide("info-gain:k=2,position_temperature=5").commit, (std::vector<Position>{1, 3}));
}

TEST(InfoGain, OneCallOnePassPerDifferentSet) {
  HandMadeStep step(4);
  step.SetProbs({0.5, 0.4, 0.3, 0.2});
  step.Decide(kManyOfOne);
  EXPECT_EQ(step.probe.calls, 1);
  ASSERT_EQ(step.probe.revealed.size(), 4u);  // 200 candidates, four different sets
  EXPECT_EQ(step.probe.revealed.front(), (Set{0}));
  for (std::size_t i = 0; i < 4; ++i) {
    Set all = step.probe.revealed[i];
    all.insert(step.probe.rows[i].begin(), step.probe.rows[i].end());
    EXPECT_EQ(all, (Set{0, 1, 2, 3})) << "the rows of all that stays masked are needed";
    EXPECT_EQ(step.probe.rows[i].size(), 3u);
  }
}

TEST(InfoGain, NeverMorePassesThanCandidates) {
  HandMadeStep step(30);
  step.Decide("info-gain:candidates=5,k=3,position_temperature=5");
  EXPECT_LE(step.probe.revealed.size(), 5u);
  EXPECT_GE(step.probe.revealed.size(), 2u);
}

TEST(InfoGain, HandsOnThePassOfTheWinner) {
  HandMadeStep step(4);
  step.probe.entropy = [](const Set& anchors, Position) { return anchors.contains(2) ? 0.1 : 0.6; };
  const Plan plan = step.Decide(kManyOfOne);
  ASSERT_NE(plan.next_base, nullptr);
  EXPECT_EQ(static_cast<const ScriptedPass&>(*plan.next_base).anchors, (Set{2}));
}

TEST(InfoGain, NoLookAheadWhenThereIsNothingToDecide) {
  HandMadeStep sure(4);
  sure.SetProbs({0.8, 0.9, 0.95, 0.99});
  EXPECT_EQ(sure.Commits("info-gain"), (Set{3}));
  HandMadeStep last(2);
  EXPECT_EQ(last.Commits("info-gain:k=2"), (Set{0, 1}));
  HandMadeStep alone(4);
  EXPECT_EQ(alone.Commits("info-gain:candidates=1"), (Set{0}));
  for (HandMadeStep* step : {&sure, &last, &alone}) EXPECT_EQ(step->probe.calls, 0);
  sure.at(0).token_prob = 0.79;
  sure.Decide("info-gain:position_temperature=5");
  EXPECT_EQ(sure.probe.calls, 1);
}

TEST(InfoGain, CandidatesAreDrawnByConfidence) {
  HandMadeStep step(3);
  step.SetProbs({0.5, 0.4, 0.1});
  std::map<Set, int> count;
  const int draws = 20000;
  const std::shared_ptr<const Planner> planner = MakePlanner("info-gain:candidates=2,position_temperature=0.2");
  for (int seed = 0; seed < draws; ++seed) {
    step.key.seed = static_cast<std::uint64_t>(seed);
    step.probe.revealed.clear();
    step.Decide(*planner);
    // One candidate besides the greedy one; it equals that one when no pass was run.
    ++count[step.probe.revealed.empty() ? Set{0} : step.probe.revealed.back()];
  }
  const double total = std::exp(2.5) + std::exp(2.0) + std::exp(0.5);
  EXPECT_NEAR(count[{0}] / double{draws}, std::exp(2.5) / total, 5 * 0.0036);
  EXPECT_NEAR(count[{1}] / double{draws}, std::exp(2.0) / total, 5 * 0.0036);
  EXPECT_NEAR(count[{2}] / double{draws}, std::exp(0.5) / total, 5 * 0.0036);
}

}  // namespace
}  // namespace punt
