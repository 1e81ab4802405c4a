#include "plan/scripted_step_testing.h"

namespace punt {
namespace {

using Set = std::set<Position>;

// tau_sink=1 switches the removal of sinks off: in a canvas this short every column has a large mean.
constexpr std::string_view kNoSinks = "dawn:tau_sink=1";

/// A step of five positions in which nobody looks at anybody.
struct FiveApart {
  FiveApart() : step(5) { step.attention.assign(25, 0.0f); }
  void Look(Position query, Position key, float weight = 0.5f) {
    step.attention[static_cast<std::size_t>(query * 5 + key)] = weight;
  }
  HandMadeStep step;
};

TEST(Dawn, CommitsTheSureAndTheIndependent) {
  FiveApart s;
  s.step.SetProbs({0.95, 0.8, 0.75, 0.6, 0.9});
  EXPECT_EQ(s.step.Commits(kNoSinks), (Set{0, 1, 2, 4}));
}

TEST(Dawn, KeepsDependentOnesApartInEitherDirection) {
  FiveApart s;
  s.step.SetProbs({0.8, 0.75, 0.7, 0.1, 0.1});
  s.Look(1, 0);
  EXPECT_EQ(s.step.Commits(kNoSinks), (Set{0, 2}));
  s.Look(1, 0, 0.0f);
  s.Look(0, 1);
  EXPECT_EQ(s.step.Commits(kNoSinks), (Set{0, 2}));
  s.Look(0, 1, 0.06f);  // below tau_edge
  EXPECT_EQ(s.step.Commits(kNoSinks), (Set{0, 1, 2}));
}

TEST(Dawn, TheIndependentStayClearOfTheSure) {
  FiveApart s;
  s.step.SetProbs({0.95, 0.8, 0.1, 0.1, 0.1});
  s.Look(0, 1);
  EXPECT_EQ(s.step.Commits(kNoSinks), (Set{0}));
}

TEST(Dawn, ASureTokenInducesThoseThatLookAtIt) {
  FiveApart s;
  s.step.SetProbs({0.5, 0.75, 0.74, 0.1, 0.1});
  s.step.Fill(0, 0, 0.95);
  s.Look(1, 0);
  s.Look(2, 0);
  s.Look(1, 2);  // 1 and 2 depend on each other, but both are induced
  EXPECT_EQ(s.step.Commits(kNoSinks), (Set{1, 2}));
}

TEST(Dawn, ADoubtfulTokenInducesNothing) {
  FiveApart s;
  s.step.SetProbs({0.5, 0.75, 0.74, 0.1, 0.1});
  s.step.Fill(0, 0, 0.8);
  s.Look(1, 0);
  s.Look(2, 0);
  s.Look(1, 2);
  EXPECT_EQ(s.step.Commits(kNoSinks), (Set{1}));
}

TEST(Dawn, SinksAndTheDiagonalAreNoDependencies) {
  FiveApart s;
  s.step.SetProbs({0.8, 0.75, 0.7, 0.1, 0.1});
  for (Position query = 0; query < 5; ++query) s.Look(query, 0);
  for (Position i = 0; i < 5; ++i) s.Look(i, i);
  EXPECT_EQ(s.step.Commits("dawn:tau_sink=0.4"), (Set{0, 1, 2}));
  EXPECT_EQ(s.step.Commits(kNoSinks), (Set{0}));
}

TEST(Dawn, CommitsTheBestWhenNoRuleApplies) {
  FiveApart s;
  s.step.SetProbs({0.1, 0.3, 0.2, 0.1, 0.1});
  EXPECT_EQ(s.step.Commits(kNoSinks), (Set{1}));
}

}  // namespace
}  // namespace punt
