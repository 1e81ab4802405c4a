#include "plan/scripted_step_testing.h"
#include "punt/random.h"

namespace punt {
namespace {

using Set = std::set<Position>;

TEST(Factor, CommitsTheLargestNWithinTheBound) {
  HandMadeStep step(4);
  step.SetProbs({0.9, 0.8, 0.7, 0.6});  // (n+1)(1-c_n): 0.2, 0.6, 1.2, 2.0
  EXPECT_EQ(step.Commits("factor:f=0.1"), (Set{0}));
  EXPECT_EQ(step.Commits("factor:f=0.3"), (Set{0}));
  EXPECT_EQ(step.Commits("factor:f=1"), (Set{0, 1}));
  EXPECT_EQ(step.Commits("factor:f=1.5"), (Set{0, 1, 2}));
  EXPECT_EQ(step.Commits("factor:f=2.1"), (Set{0, 1, 2, 3}));
}

// A known implementation counts one too many when its scan stops at the last rank, and commits a last
// token that failed.
TEST(Factor, TheLastRankMustPassToo) {
  HandMadeStep step(3);
  step.SetProbs({0.99, 0.99, 0.3});  // 0.02, 0.03, 2.8
  EXPECT_EQ(step.Commits("factor"), (Set{0, 1}));
  step.SetProbs({0.99, 0.99, 0.98});
  EXPECT_EQ(step.Commits("factor"), (Set{0, 1, 2}));
  HandMadeStep two(2);
  two.SetProbs({0.6, 0.2});  // 0.8, 2.4
  EXPECT_EQ(two.Commits("factor"), (Set{0}));
}

TEST(Factor, SortsByTokenProbability) {
  HandMadeStep step(3);
  step.SetProbs({0.2, 0.99, 0.98});
  step.at(0).confidence = 5;
  const Plan plan = step.Decide("factor");
  EXPECT_EQ(Set(plan.commit.begin(), plan.commit.end()), (Set{1, 2}));
}

TEST(Factor, DeprioritisedProposalsCountAsImprobable) {
  HandMadeStep step(3);
  step.SetProbs({0.99, 0.99, 0.99});
  step.at(1).confidence = kDeprioritised;
  EXPECT_EQ(step.Commits("factor"), (Set{0, 2}));
  for (Position i = 0; i < 3; ++i) step.at(i).confidence = kDeprioritised;
  EXPECT_EQ(step.Commits("factor"), (Set{0}));
}

TEST(Factor, AgreesWithTheDefinition) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    HandMadeStep step(9);
    std::vector<double> probs;
    for (Position i = 0; i < 9; ++i) {
      const double u = RandomStream({seed, 0, 0}, i, Purpose::kToyModel).Uniform();
      probs.push_back(1 - 0.3 * u * u);
    }
    step.SetProbs(probs);
    std::sort(probs.rbegin(), probs.rend());
    std::size_t largest = 1;
    for (std::size_t n = 1; n <= probs.size(); ++n) {
      if (static_cast<double>(n + 1) * (1 - probs[n - 1]) < 0.7) largest = n;
    }
    EXPECT_EQ(step.Commits("factor:f=0.7").size(), largest) << "seed " << seed;
  }
}

}  // namespace
}  // namespace punt
