#include "plan/scripted_step_testing.h"
#include "punt/random.h"

namespace punt {
namespace {

using Set = std::set<Position>;

TEST(Frechet, CommitsWhileTheBoundsAreApart) {
  HandMadeStep step(4);
  // L: 0.99, 0.94, 0.84, 0.54; U: 0.01, 0.05, 0.1, 0.3; L - U: 0.98, 0.89, 0.74, 0.24
  step.SetProbs({0.99, 0.95, 0.9, 0.7});
  EXPECT_EQ(step.Commits("frechet"), (Set{0, 1, 2}));
  EXPECT_EQ(step.Commits("frechet:delta=0.23"), (Set{0, 1, 2, 3}));
  EXPECT_EQ(step.Commits("frechet:delta=0.8"), (Set{0, 1}));
  EXPECT_EQ(step.Commits("frechet:delta=1"), (Set{0}));
}

TEST(Frechet, CommitsTheMostProbableWhenNoBoundHolds) {
  HandMadeStep step(3);
  step.SetProbs({0.3, 0.4, 0.5});
  EXPECT_EQ(step.Commits("frechet:delta=0"), (Set{2}));
}

TEST(Frechet, DeprioritisedProposalsCountAsImprobable) {
  HandMadeStep step(3);
  step.SetProbs({0.99, 0.99, 0.99});
  step.at(1).confidence = kDeprioritised;
  EXPECT_EQ(step.Commits("frechet"), (Set{0, 2}));
}

std::vector<double> RandomProbs(std::uint64_t seed) {
  std::vector<double> probs;
  for (Position i = 0; i < 9; ++i) {
    const double u = RandomStream({seed, 0, 0}, i, Purpose::kToyModel).Uniform();
    probs.push_back(1 - 0.4 * u * u * u);
  }
  return probs;
}

TEST(Frechet, AgreesWithTheDefinition) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::vector<double> probs = RandomProbs(seed);
    HandMadeStep step(9);
    step.SetProbs(probs);
    std::sort(probs.rbegin(), probs.rend());
    std::size_t holds = 0;  // for how many n
    double sum = 0;
    for (std::size_t n = 1; n <= probs.size(); ++n) {
      sum += probs[n - 1];
      const double lower = std::max(0.0, sum - static_cast<double>(n - 1));
      if (lower - (1 - probs[n - 1]) > 0.25) ++holds;
    }
    EXPECT_EQ(step.Commits("frechet").size(), std::max<std::size_t>(holds, 1)) << "seed " << seed;
  }
}

TEST(Frechet, NeverFewerThanFactorAndTheSameWhereAllAreEqual) {
  int more = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    HandMadeStep step(9);
    step.SetProbs(RandomProbs(seed));
    const Set frechet = step.Commits("frechet");
    const Set factor = step.Commits("factor:f=0.75");
    EXPECT_TRUE(std::includes(frechet.begin(), frechet.end(), factor.begin(), factor.end())) << "seed " << seed;
    more += frechet.size() > factor.size() ? 1 : 0;
  }
  EXPECT_GT(more, 50);
  for (double prob : {0.61, 0.77, 0.83, 0.91, 0.97, 0.999}) {
    HandMadeStep step(9);
    step.SetProbs(std::vector<double>(9, prob));
    EXPECT_EQ(step.Commits("frechet"), step.Commits("factor:f=0.75")) << prob;
  }
}

}  // namespace
}  // namespace punt
