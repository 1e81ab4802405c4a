#include "denoise/toy_forest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "denoise/toy_coupled.h"
#include "denoise/toy_random.h"
#include "denoise/toy_truth_testing.h"
#include "punt/error.h"

namespace punt {
namespace {

constexpr double kTight = 1e-13;

/// Random tables without any structure; a share of their entries is zero.
ForestModel RandomForest(int states, std::vector<Position> parents, std::uint64_t seed, double zeros) {
  std::vector<std::vector<double>> tables;
  const auto v = static_cast<std::size_t>(states);
  for (std::size_t i = 0; i < parents.size(); ++i) {
    RandomStream stream = ToyStream(seed, ToyPart::kTable, static_cast<Position>(i));
    std::vector<double> table;
    for (std::size_t row = 0; row < (parents[i] < 0 ? 1 : v); ++row) {
      std::vector<double> drawn = DrawDirichlet(states, 1.0, stream);
      for (std::size_t b = 1; b < v; ++b) {
        if (stream.Uniform() < zeros) drawn[b] = 0;
      }
      const double sum = std::accumulate(drawn.begin(), drawn.end(), 0.0);
      for (double p : drawn) table.push_back(p / sum);
    }
    tables.push_back(std::move(table));
  }
  return ForestModel(states, std::move(parents), tables);
}

const std::vector<std::vector<Position>> kShapes = {
    {-1, -1, -1, -1},      // no edges
    {-1, 0, 1, 2},         // a chain
    {1, 2, 3, -1},         // a chain backwards
    {-1, 0, 0, 0, 0},      // a star
    {2, 2, -1, 2, 3},      // a star in the middle with a tail
    {-1, 0, -1, 2, 2},     // two trees
    {3, -1, 1, 1, -1, 4},  // two trees, interleaved
};

class Shapes : public testing::TestWithParam<std::vector<Position>> {};

TEST_P(Shapes, ConditionalsEqualEnumeration) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    EXPECT_LT(LargestError(RandomForest(2, GetParam(), seed, 0.0)), kTight);
  }
}

// Half of the entries are zero: most canvases with several tokens are contradictions of some kind.
TEST_P(Shapes, ConditionalsEqualEnumerationWithImpossibleEvidence) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    EXPECT_LT(LargestError(RandomForest(2, GetParam(), seed, 0.5)), kTight);
  }
}

TEST_P(Shapes, ThreeStates) {
  std::vector<Position> parents = GetParam();
  if (parents.size() > 5) return;  // 4^6 canvases of 3^6 sequences each
  EXPECT_LT(LargestError(RandomForest(3, parents, 1, 0.2)), kTight);
}

TEST_P(Shapes, ProbabilityIsTheProductOfTheTables) {
  const std::vector<double> joint = JointOf(RandomForest(3, GetParam(), 4, 0.1));
  EXPECT_NEAR(std::accumulate(joint.begin(), joint.end(), 0.0), 1, kTight);
}

INSTANTIATE_TEST_SUITE_P(Forest, Shapes, testing::ValuesIn(kShapes));

TEST(ForestModelTest, TablesMeanWhatTheContractSays) {
  // x_1 -> x_0: the table of position 0 has a row per value of position 1.
  const ForestModel model(2, {1, -1}, {{0.9, 0.1, 0.3, 0.7}, {0.25, 0.75}});
  EXPECT_DOUBLE_EQ(model.Probability(std::vector<Token>{0, 0}), 0.25 * 0.9);
  EXPECT_DOUBLE_EQ(model.Probability(std::vector<Token>{1, 0}), 0.25 * 0.1);
  EXPECT_DOUBLE_EQ(model.Probability(std::vector<Token>{0, 1}), 0.75 * 0.3);
  EXPECT_EQ(model.parents()[0], 1);
  EXPECT_EQ(model.parents()[1], -1);
}

TEST(ForestModelTest, ContradictionElsewhereMakesRowsUniform) {
  const ForestModel model(2, {-1, -1, -1}, {{1, 0}, {0.25, 0.75}, {1, 0}});
  const std::vector<double> one = ConditionalsOf(model, std::vector<Token>{1, 2, 2});
  EXPECT_EQ(one, (std::vector<double>{1, 0, 0.5, 0.5, 0.5, 0.5}));  // row 0 does not see its own token
  const std::vector<double> both = ConditionalsOf(model, std::vector<Token>{1, 0, 1});
  EXPECT_EQ(both, (std::vector<double>{0.5, 0.5, 0.5, 0.5, 0.5, 0.5}));
}

/// p(x_i | nearest revealed neighbours) of a homogeneous two-state chain with flip probability f and uniform
/// start, in closed form: after n steps two ends agree with probability (1 + (1 - 2f)^n) / 2.
double ChainTruth(double flip, int left, int right, Token left_token, Token right_token, Token token) {
  const auto agree = [&](int steps, bool same) {
    const double decay = std::pow(1 - 2 * flip, steps);
    return same ? (1 + decay) / 2 : (1 - decay) / 2;
  };
  const double here = agree(left, left_token == token) * agree(right, right_token == token);
  const double other = agree(left, left_token != token) * agree(right, right_token != token);
  return here / (here + other);
}

TEST(ForestModelTest, LongChainsDoNotUnderflow) {
  constexpr int kLength = 4096;
  constexpr double kFlip = 0.02;
  std::vector<Position> parents(kLength);
  std::iota(parents.begin(), parents.end(), -1);
  std::vector<std::vector<double>> tables(kLength, {1 - kFlip, kFlip, kFlip, 1 - kFlip});
  tables[0] = {0.5, 0.5};
  const ForestModel model(2, parents, tables);

  // Every tenth position is revealed, at random: hundreds of unlikely flips.
  std::vector<Token> canvas(kLength, 2);
  RandomStream stream = ToyStream(1, ToyPart::kTable, 0);
  for (std::size_t i = 0; i < canvas.size(); i += 10) canvas[i] = static_cast<Token>(stream.Below(2));
  const std::vector<double> rows = ConditionalsOf(model, canvas);
  for (int i = 10; i < 4080; ++i) {
    const int left = i % 10 == 0 ? i - 10 : i - i % 10;
    const int right = i - i % 10 + 10;
    const Token left_token = canvas[static_cast<std::size_t>(left)];
    const Token right_token = canvas[static_cast<std::size_t>(right)];
    const double truth = ChainTruth(kFlip, i - left, right - i, left_token, right_token, 1);
    ASSERT_NEAR(rows[static_cast<std::size_t>(2 * i + 1)], truth, 1e-12) << i;
  }
}

// All 4,096 revealed, against the product of the two edges at each position.
TEST(ForestModelTest, FullyRevealedLongChain) {
  constexpr int kLength = 4096;
  std::vector<Position> parents(kLength);
  std::iota(parents.begin(), parents.end(), -1);
  const ForestModel model = RandomForest(5, parents, 3, 0.0);
  std::vector<Token> canvas(kLength);
  for (std::size_t i = 0; i < canvas.size(); ++i) canvas[i] = static_cast<Token>(i * i % 5);
  const std::vector<double> rows = ConditionalsOf(model, canvas);

  // The conditional of a position depends on its neighbours only: a short canvas around it says the same.
  for (std::size_t i : {0u, 1u, 777u, 4094u, 4095u}) {
    std::vector<Token> local(kLength, 5);
    if (i > 0) local[i - 1] = canvas[i - 1];
    if (i + 1 < local.size()) local[i + 1] = canvas[i + 1];
    const std::vector<double> expected = ConditionalsOf(model, local);
    for (std::size_t v = 0; v < 5; ++v) EXPECT_NEAR(rows[i * 5 + v], expected[i * 5 + v], 1e-12) << i;
  }
}

TEST(ForestModelTest, ManySiblingsDoNotUnderflow) {
  constexpr int kLeaves = 4095;
  std::vector<Position> parents(kLeaves + 1, 0);
  parents[0] = -1;
  std::vector<std::vector<double>> tables(parents.size(), {0.6, 0.4, 0.4, 0.6});
  tables[0] = {0.5, 0.5};
  const ForestModel model(2, parents, tables);
  std::vector<Token> canvas(parents.size(), 0);
  canvas[0] = 2;
  for (std::size_t i = 1; i < canvas.size(); i += 2) canvas[i] = 1;  // 2,048 ones against 2,047 zeros
  const std::vector<double> rows = ConditionalsOf(model, canvas);
  EXPECT_NEAR(rows[1], 0.6, 1e-9);  // what one leaf more says
  // A leaf that showed 1 sees as many of both; one that showed 0 sees two more ones: odds (0.6/0.4)^2.
  EXPECT_NEAR(rows[2 * kLeaves + 1], 0.5, 1e-9);
  const double root_one = 0.36 / (0.36 + 0.16);
  EXPECT_NEAR(rows[2 * 2 + 1], root_one * 0.6 + (1 - root_one) * 0.4, 1e-9);
}

void ExpectRefused(int states, std::vector<Position> parents, const std::vector<std::vector<double>>& tables,
                   const std::string& words) {
  try {
    ForestModel model(states, std::move(parents), tables);
    FAIL() << "accepted, wanted: " << words;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(ForestModelTest, RefusesWhatIsNoForest) {
  const std::vector<double> row = {0.5, 0.5};
  const std::vector<double> table = {0.5, 0.5, 0.5, 0.5};
  ExpectRefused(2, {}, {}, "at least one position");
  ExpectRefused(2, {1, 0}, {table, table}, "cycle");
  ExpectRefused(2, {-1, 1}, {row, table}, "cycle");
  ExpectRefused(2, {-1, 2}, {row, table}, "impossible parent 2");
  ExpectRefused(2, {-1, 0}, {row}, "as many tables");
  ExpectRefused(2, {-1, 0}, {row, row}, "needs 4 numbers, got 2");
  ExpectRefused(2, {-1}, {{0.5, 0.6}}, "sums to 1.1");
  ExpectRefused(2, {-1}, {{1.5, -0.5}}, "-0.5");
  ExpectRefused(2, {-1}, {{std::nan(""), 1}}, "nan");
}

TEST(ForestModelTest, ChecksItsArguments) {
  const ForestModel model(2, {-1}, {{0.5, 0.5}});
  std::vector<double> out(2);
  EXPECT_THROW(model.Conditionals(std::vector<Token>{0, 0}, out), std::logic_error);
  EXPECT_THROW(model.Conditionals(std::vector<Token>{-1}, out), std::logic_error);
  EXPECT_THROW(model.Probability(std::vector<Token>{2}), std::logic_error);
  EXPECT_THROW(model.Probability(std::vector<Token>{}), std::logic_error);
}

TEST(CoupledForestTest, RefusesTablesThatDoNotFit) {
  std::vector<Position> parents(65536);
  std::iota(parents.begin(), parents.end(), -1);
  EXPECT_THROW(MakeCoupledForest({.states = 1024}, parents), Error);
}

}  // namespace
}  // namespace punt
