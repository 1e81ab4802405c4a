#include "denoise/toy_joint.h"

#include <gtest/gtest.h>

#include "denoise/toy_random.h"
#include "denoise/toy_truth_testing.h"
#include "punt/error.h"

namespace punt {
namespace {

JointModel RandomJoint(int length, int states, std::uint64_t seed, bool with_zeros) {
  int size = 1;
  for (int i = 0; i < length; ++i) size *= states;
  RandomStream stream = ToyStream(seed, ToyPart::kTable, 0);
  std::vector<double> table = DrawDirichlet(size, 1.0, stream);
  double sum = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (with_zeros && i % 3 != 0) table[i] = 0;
    sum += table[i];
  }
  for (double& p : table) p /= sum;
  return JointModel(length, states, std::move(table));
}

TEST(JointModelTest, ConditionalsEqualEnumeration) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    EXPECT_LT(LargestError(RandomJoint(4, 3, seed, false)), 1e-13);
    EXPECT_LT(LargestError(RandomJoint(5, 2, seed, false)), 1e-13);
    EXPECT_LT(LargestError(RandomJoint(4, 3, seed, true)), 1e-13);
    EXPECT_LT(LargestError(RandomJoint(5, 2, seed, true)), 1e-13);
  }
}

TEST(JointModelTest, PositionZeroIsTheMostSignificantDigit) {
  const JointModel model(2, 3, {0.1, 0.2, 0.0, 0.0, 0.0, 0.3, 0.4, 0.0, 0.0});
  EXPECT_EQ(model.Probability(std::vector<Token>{0, 1}), 0.2);
  EXPECT_EQ(model.Probability(std::vector<Token>{1, 2}), 0.3);
  EXPECT_EQ(model.Probability(std::vector<Token>{2, 0}), 0.4);
}

TEST(JointModelTest, RefusesWhatIsNoTable) {
  EXPECT_THROW(JointModel(2, 2, {0.5, 0.5}), Error);
  EXPECT_THROW(JointModel(1, 2, {0.5, 0.6}), Error);
  EXPECT_THROW(JointModel(1, 2, {1.5, -0.5}), Error);
  EXPECT_THROW(JointModel(0, 2, {1.0}), Error);
  EXPECT_THROW(JointModel(40, 2, {1.0}), Error);
}

}  // namespace
}  // namespace punt
