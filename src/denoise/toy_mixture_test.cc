#include "denoise/toy_mixture.h"

#include <gtest/gtest.h>

#include <cmath>

#include "denoise/toy_random.h"
#include "denoise/toy_truth_testing.h"
#include "punt/error.h"

namespace punt {
namespace {

MixtureModel RandomMixture(int length, int states, int components, bool with_zeros) {
  RandomStream stream = ToyStream(9, ToyPart::kTable, 0);
  std::vector<double> weights = DrawDirichlet(components, 1.0, stream);
  std::vector<double> tables;
  for (int row = 0; row < length * components; ++row) {
    std::vector<double> drawn = DrawDirichlet(states, 1.0, stream);
    if (with_zeros && row % 2 == 0) {
      const double moved = drawn[1];
      drawn[0] += moved;
      drawn[1] = 0;
    }
    tables.insert(tables.end(), drawn.begin(), drawn.end());
  }
  return MixtureModel(length, states, std::move(weights), std::move(tables));
}

TEST(MixtureModelTest, ConditionalsEqualEnumeration) {
  EXPECT_LT(LargestError(RandomMixture(4, 3, 3, false)), 1e-13);
  EXPECT_LT(LargestError(RandomMixture(5, 2, 2, false)), 1e-13);
  EXPECT_LT(LargestError(RandomMixture(3, 3, 1, false)), 1e-13);
  EXPECT_LT(LargestError(RandomMixture(4, 3, 3, true)), 1e-13);
  EXPECT_LT(LargestError(RandomMixture(5, 2, 2, true)), 1e-13);
}

TEST(MixtureModelTest, AComponentOfWeightZeroNeverMatters) {
  const MixtureModel model(2, 2, {1, 0}, {1, 0, 0, 1, 0.5, 0.5, 0.5, 0.5});
  EXPECT_LT(LargestError(model), 1e-15);
  EXPECT_EQ(model.Posterior(std::vector<Token>{1, 2}), (std::vector<double>{0.5, 0.5}));  // impossible
  EXPECT_EQ(model.Posterior(std::vector<Token>{0, 2}), (std::vector<double>{1, 0}));
}

// Two components that differ by a little at each of 4,096 positions: the plain likelihoods underflow.
TEST(MixtureModelTest, LongEvidenceDoesNotUnderflow) {
  constexpr int kLength = 4096;
  std::vector<double> tables;
  for (int i = 0; i < kLength; ++i) tables.insert(tables.end(), {0.6, 0.4, 0.4, 0.6});
  const MixtureModel model(kLength, 2, {0.5, 0.5}, std::move(tables));
  std::vector<Token> canvas(kLength, 0);
  for (std::size_t i = 0; i < canvas.size(); i += 2) canvas[i] = 1;
  const std::vector<double> rows = ConditionalsOf(model, canvas);
  // Without its own token each row sees the other token once more: odds 3 : 2.
  EXPECT_NEAR(rows[0], 0.6 * 0.6 + 0.4 * 0.4, 1e-9);
  EXPECT_NEAR(rows[3], 0.6 * 0.6 + 0.4 * 0.4, 1e-9);
}

TEST(MixtureModelTest, RefusesWhatIsNoMixture) {
  EXPECT_THROW(MixtureModel(1, 2, {0.5, 0.6}, {1, 0, 1, 0}), Error);
  EXPECT_THROW(MixtureModel(1, 2, {0.5, 0.5}, {1, 0}), Error);
  EXPECT_THROW(MixtureModel(1, 2, {1}, {1, 0.5}), Error);
  EXPECT_THROW(MixtureModel(1, 2, {}, {}), Error);
  EXPECT_THROW(MixtureModel(0, 2, {1}, {}), Error);
}

}  // namespace
}  // namespace punt
