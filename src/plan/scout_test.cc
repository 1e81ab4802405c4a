#include <gtest/gtest.h>

#include "plan/scripted_step_testing.h"

namespace punt {
namespace {

using Positions = std::set<Position>;

/// Rows of all positions stayed as they were in the last step.
void SetUnmoved(HandMadeStep& step) {
  for (Position position = 0; position < step.canvas.length(); ++position) {
    step.canvas.RecordDivergence(position, 0.001, 1);
  }
}

TEST(Scout, CommitsSureRowsWithoutTests) {
  HandMadeStep step(6);
  step.SetProbs({0.95, 0.5, 0.8, 0.79, 0.99, 0.1});
  EXPECT_EQ(step.Commits("scout:doubt=1"), (Positions{0, 2, 4}));
  EXPECT_EQ(step.Commits("scout:doubt=1,sure=0.95"), (Positions{0, 4}));
  EXPECT_EQ(step.probe.calls, 0);
}

TEST(Scout, CommitsTheBestWhereNothingIsSure) {
  HandMadeStep step(4);
  step.SetProbs({0.1, 0.3, 0.2, 0.1});
  EXPECT_EQ(step.Commits("scout"), (Positions{1}));
}

// Rows that are kept until they draw something probable would make texts too probable.
TEST(Scout, ARowIsSureWhateverWasDrawnFromIt) {
  HandMadeStep step(5);
  step.SetProbs({0.95, 0.97, 0.5, 0.99, 0.4});
  const Positions sure = step.Commits("scout:doubt=0.1");
  EXPECT_EQ(sure, (Positions{0, 1, 3}));
  step.at(0).token_prob = 0.05;
  EXPECT_EQ(step.Commits("scout:doubt=0.1"), sure) << "an improbable token of a sure row";
  step.at(1).token_prob = 0.03;
  step.at(3).token_prob = 0.01;
  EXPECT_EQ(step.Commits("scout:doubt=0.1"), sure) << "of all sure rows";
  step.at(2).token_prob = 0.1;
  EXPECT_EQ(step.Commits("scout:doubt=0.1"), sure) << "an improbable token of an unsure row";
}

TEST(Scout, PositionsThatMustComeLastAreNotSure) {
  HandMadeStep step(3);
  step.SetProbs({0.9, 0.99, 0.3});
  step.at(1).confidence = kDeprioritised;
  EXPECT_EQ(step.Commits("scout"), (Positions{0}));
}

TEST(Scout, DoubtsOfSureRowsAddUp) {
  HandMadeStep step(5);
  step.SetProbs({0.9, 0.95, 0.9, 0.85, 0.9});
  EXPECT_EQ(step.Commits("scout:doubt=0.16"), (Positions{0, 1}));
  EXPECT_EQ(step.Commits("scout:doubt=0.26"), (Positions{0, 1, 2}));
  EXPECT_EQ(step.Commits("scout:doubt=0"), (Positions{1}));
}

TEST(Scout, SearchesAmongRowsThatDidNotMove) {
  HandMadeStep step(64);
  SetUnmoved(step);
  step.past = {{.committed = 100}};
  for (Position position = 40; position < 64; ++position) step.canvas.RecordDivergence(position, 0.03, 1);
  const Plan plan = step.Decide("scout");
  EXPECT_EQ(plan.rounds.size(), 6u);  // 39 candidates and the best
  EXPECT_EQ(Positions(plan.commit.begin(), plan.commit.end()).size(), 40u);
  for (Position position : plan.commit) EXPECT_LT(position, 40);
}

/// The positions tested in a search among 63 candidates, after these steps; all rows unmoved.
std::size_t CandidatesAfter(std::vector<PastStep> past) {
  HandMadeStep step(64);
  SetUnmoved(step);
  step.past = std::move(past);
  const Plan plan = step.Decide("scout");
  Positions tested;
  for (const Round& round : plan.rounds) tested.insert(round.tests.begin(), round.tests.end());
  return tested.size();
}

TEST(Scout, SearchesAmongAsManyAsSearchesHavePaidFor) {
  const PastStep rich{.committed = 200};  // so that no debt stands in the way
  const PastStep lost{.committed = 1, .tests = 1};
  const PastStep won{.committed = 30, .tests = 6};
  const PastStep quiet{.committed = 1};
  EXPECT_EQ(CandidatesAfter({rich}), 63u);
  EXPECT_EQ(CandidatesAfter({rich, lost}), 16u) << "a quarter of the 65 that were masked";
  EXPECT_EQ(CandidatesAfter({rich, lost, won}), 46u) << "twice a quarter of 95";
  EXPECT_EQ(CandidatesAfter({rich, lost, lost}), 4u);
  EXPECT_EQ(CandidatesAfter({rich, lost, lost, lost}), 0u) << "below the fewest: a rest";
  EXPECT_EQ(CandidatesAfter({rich, lost, lost, lost, quiet, quiet, quiet}), 0u);
  EXPECT_EQ(CandidatesAfter({rich, lost, lost, lost, quiet, quiet, quiet, quiet}), 4u);
  EXPECT_EQ(CandidatesAfter({rich, lost, lost, lost, quiet, quiet, quiet, quiet, lost, quiet, quiet, quiet, quiet}), 0u)
      << "a longer one";
}

TEST(Scout, AfterASearchThatPaidRowsMayHaveMoved) {
  HandMadeStep step(32);
  for (Position position = 0; position < 32; ++position) step.canvas.RecordDivergence(position, 2.0, 1);
  step.past = {{.committed = 200}};
  EXPECT_EQ(step.Decide("scout").commit.size(), 1u);
  step.past.push_back({.committed = 40, .tests = 6});
  EXPECT_EQ(step.Decide("scout").commit.size(), 32u);
}

TEST(Scout, OfTwoThatDependTheEarlierIsKept) {
  HandMadeStep step(16);
  SetUnmoved(step);
  step.past = {{.committed = 100}};
  step.SetProbs({0.6, 0.1, 0.2, 0.3, 0.4, 0.5});
  step.probe.divergence = [](const Positions& anchors, Position row) {
    return (row == 4 && anchors.count(9)) || (row == 9 && anchors.count(4)) ? 1.0 : 0.0;
  };
  const Positions committed = step.Commits("scout");
  EXPECT_EQ(committed.size(), 15u);
  EXPECT_FALSE(committed.count(9));
}

TEST(Scout, FewerRoundsTellNeighboursApart) {
  HandMadeStep step(64);
  SetUnmoved(step);
  step.past = {{.committed = 100}};
  step.at(0).confidence = 0.9;
  const auto survivors = [&](Position a, Position b, const char* spec) {
    step.probe.divergence = [=](const Positions& anchors, Position row) {
      return (row == a && anchors.count(b)) || (row == b && anchors.count(a)) ? 1.0 : 0.0;
    };
    return step.Decide(spec);
  };
  EXPECT_EQ(survivors(20, 21, "scout:rounds=2").rounds.size(), 2u);
  EXPECT_EQ(survivors(20, 21, "scout:rounds=2").commit.size(), 63u);
  EXPECT_EQ(survivors(20, 23, "scout:rounds=2").commit.size(), 64u) << "three apart: the same number";
  EXPECT_EQ(survivors(20, 23, "scout").commit.size(), 63u);
}

TEST(Scout, GivesUpWhereEverythingDepends) {
  HandMadeStep step(64);
  SetUnmoved(step);
  step.past = {{.committed = 100}};
  step.probe.divergence = [](const Positions&, Position) { return 1.0; };
  const Plan plan = step.Decide("scout");
  EXPECT_EQ(plan.rounds.size(), 1u);
  EXPECT_EQ(plan.commit.size(), 1u);
}

TEST(Scout, SmallCanvasesRiskThreeRounds) {
  const auto tested = [](int length) {
    HandMadeStep step(length);
    SetUnmoved(step);
    step.past = {{.committed = 1}};
    const Plan plan = step.Decide("scout");
    return std::pair(plan.rounds.size(), plan.commit.size());
  };
  EXPECT_EQ(tested(24), std::pair(std::size_t{3}, std::size_t{6}));
  EXPECT_EQ(tested(23), std::pair(std::size_t{0}, std::size_t{1}));
}

TEST(Scout, FirstStepsHaveNothingToGoBy) {
  HandMadeStep step(64);
  EXPECT_EQ(step.Decide("scout").commit.size(), 1u);
  EXPECT_EQ(step.probe.calls, 0);
}

// Every pair of committed tokens was told apart by a test: the later one with the other revealed.
TEST(Scout, SurvivorsWereTestedAgainstEachOther) {
  for (int seed = 0; seed < 50; ++seed) {
    HandMadeStep step(48);
    SetUnmoved(step);
    for (Position position = 0; position < 48; ++position) {
      step.at(position).confidence = step.at(position).top_prob = ((position * 29 + seed * 7) % 48) / 100.0;
    }
    step.at(5).confidence = step.at(5).top_prob = 0.9;
    const auto depends = [seed](Position a, Position b) { return (a * 31 + b * 17 + seed) % 9 == 0; };
    step.probe.divergence = [&](const Positions& anchors, Position row) {
      return std::any_of(anchors.begin(), anchors.end(), [&](Position a) { return depends(a, row); }) ? 1.0 : 0.0;
    };
    step.past = {{.committed = 100}};
    const Plan plan = step.Decide("scout:survivors=0");
    const Positions committed(plan.commit.begin(), plan.commit.end());
    const Position best = 5;  // revealed in every round
    for (Position a : committed) {
      for (Position b : committed) {
        if (b == best || (a >= b && a != best)) continue;
        EXPECT_FALSE(depends(a, b)) << a << " moves " << b;
      }
    }
  }
}

}  // namespace
}  // namespace punt
