#include <numbers>

#include "plan/scripted_step_testing.h"
#include "punt/random.h"

namespace punt {
namespace {

/// Best first is position order here, whatever the entropies.
void SetEntropies(HandMadeStep& step, const std::vector<double>& entropies) {
  for (std::size_t i = 0; i < entropies.size(); ++i) {
    Proposal& proposal = step.at(static_cast<Position>(i));
    proposal.entropy = entropies[i];
    proposal.confidence = -static_cast<double>(i);
  }
}

TEST(EntropyBound, CommitsThePrefixWithinTheBound) {
  HandMadeStep step(4);
  SetEntropies(step, {0.1, 0.2, 0.3, 0.4});  // prices 0, 0.1, 0.3, 0.6
  EXPECT_EQ(step.Decide("entropy-bound:gamma=0.09").commit.size(), 1u);
  EXPECT_EQ(step.Decide("entropy-bound:gamma=0.11").commit.size(), 2u);
  EXPECT_EQ(step.Decide("entropy-bound:gamma=0.31").commit.size(), 3u);
  EXPECT_EQ(step.Decide("entropy-bound:gamma=0.61").commit.size(), 4u);
}

TEST(EntropyBound, TheMaximumRunsAlongThePrefix) {
  HandMadeStep step(3);
  SetEntropies(step, {1.0, 0.1, 2.0});  // prices 0, 0.1, 1.1; with the overall maximum from the start the
  EXPECT_EQ(step.Decide("entropy-bound:gamma=0.5").commit.size(), 2u);  // first two would be free
  SetEntropies(step, {0.6, 0.6, 5.0});
  EXPECT_EQ(step.Decide("entropy-bound:gamma=0.5").commit.size(), 1u);
}

TEST(EntropyBound, ZeroCommitsOneAndEverythingCertain) {
  HandMadeStep step(4);
  SetEntropies(step, {0, 0.7, 0, 0.7});
  EXPECT_EQ(step.Decide("entropy-bound:gamma=0").commit.size(), 3u);
  SetEntropies(step, {0.3, 0.3, 0.3, 0.3});
  EXPECT_EQ(step.Decide("entropy-bound:gamma=0").commit.size(), 1u);
}

TEST(EntropyBound, UnitIsNatsOrBits) {
  HandMadeStep step(3);
  const double bit = std::numbers::ln2;
  SetEntropies(step, {bit, bit, bit});  // prices 0, 1, 2 bits
  EXPECT_EQ(step.Decide("entropy-bound:gamma=1.01,unit=bits").commit.size(), 2u);
  EXPECT_EQ(step.Decide("entropy-bound:gamma=1.01,unit=nats").commit.size(), 2u);
  EXPECT_EQ(step.Decide("entropy-bound:gamma=0.99,unit=bits").commit.size(), 1u);
  EXPECT_EQ(step.Decide("entropy-bound:gamma=0.99,unit=nats").commit.size(), 2u);
}

TEST(EntropyBound, AgreesWithTheDefinition) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    HandMadeStep step(12);
    std::vector<double> entropies;
    for (Position i = 0; i < 12; ++i) {
      entropies.push_back(RandomStream({seed, 0, 0}, i, Purpose::kToyModel).Uniform());
    }
    SetEntropies(step, entropies);
    std::size_t largest = 1;
    for (std::size_t k = 1; k <= entropies.size(); ++k) {
      double sum = 0;
      double greatest = 0;
      for (std::size_t i = 0; i < k; ++i) {
        sum += entropies[i];
        greatest = std::max(greatest, entropies[i]);
      }
      if (sum - greatest <= 1.5) largest = k;
    }
    EXPECT_EQ(step.Decide("entropy-bound:gamma=1.5").commit.size(), largest) << "seed " << seed;
  }
}

}  // namespace
}  // namespace punt
