// The families as their specs open them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>

#include "denoise/toy_forest.h"
#include "denoise/toy_joint.h"
#include "denoise/toy_mixture.h"
#include "denoise/toy_truth_testing.h"
#include "denoise/toys.h"
#include "punt/error.h"

namespace punt {
namespace {

std::shared_ptr<const Denoiser> Make(const std::string& spec) {
  const Spec parsed = ParseSpec(spec);
  for (const ToyRow& row : Toys()) {
    if (row.name == parsed.name) return row.make(Params(parsed, row.params, "toy model " + parsed.name));
  }
  throw std::logic_error("no such toy: " + spec);
}

const ExactModel& ModelOf(const Denoiser& denoiser) { return dynamic_cast<const ExactDenoiser&>(denoiser).model(); }

const ForestModel& ForestOf(const Denoiser& denoiser) { return dynamic_cast<const ForestModel&>(ModelOf(denoiser)); }

const char* const kSmall[] = {
    "product:length=4,vocab=3,seed=1",
    "product:length=5,vocab=2,seed=2,concentration=0.1",
    "product:length=3,vocab=1",
    "markov:length=4,vocab=3,seed=1",
    "markov:length=5,vocab=2,seed=2,coupling=0.5,permute=true",
    "markov:length=4,vocab=3,seed=3,coupling=1",
    "markov:length=4,vocab=3,seed=3,coupling=1,permute=true",
    "markov:length=1,vocab=4",
    "tree:length=5,vocab=2,seed=1",
    "tree:length=5,vocab=2,seed=5,shape=binary,permute=true",
    "tree:length=4,vocab=3,seed=4,coupling=1,permute=true",
    "joint:length=4,vocab=3,seed=1",
    "joint:length=5,vocab=2,seed=1,concentration=0.05",
    "mixture:length=4,vocab=3,seed=1,components=3",
    "mixture:length=5,vocab=2,seed=1,weights=random",
    "mixture:length=4,vocab=2,seed=1,components=1",
};

class SmallToys : public testing::TestWithParam<const char*> {};

// Every canvas of every length, each position a token or the mask; leave-one-out where revealed. Contradictory
// canvases (coupling=1) are among them.
TEST_P(SmallToys, ConditionalsEqualEnumeration) {
  const auto denoiser = Make(GetParam());
  EXPECT_LT(LargestError(ModelOf(*denoiser)), 1e-12);
}

TEST_P(SmallToys, ProbabilitiesSumToOne) {
  const auto denoiser = Make(GetParam());
  const std::vector<double> joint = JointOf(ModelOf(*denoiser));
  EXPECT_NEAR(std::accumulate(joint.begin(), joint.end(), 0.0), 1, 1e-12);
  EXPECT_GE(*std::min_element(joint.begin(), joint.end()), 0);
}

TEST_P(SmallToys, ArePureFunctionsOfTheirSpec) {
  EXPECT_EQ(JointOf(ModelOf(*Make(GetParam()))), JointOf(ModelOf(*Make(GetParam()))));
}

INSTANTIATE_TEST_SUITE_P(Toys, SmallToys, testing::ValuesIn(kSmall));

TEST(ToysTest, SeedsMatter) {
  for (const ToyRow& row : Toys()) {
    const std::string name(row.name);
    EXPECT_NE(JointOf(ModelOf(*Make(name + ":length=3,vocab=2,seed=1"))),
              JointOf(ModelOf(*Make(name + ":length=3,vocab=2,seed=2"))))
        << name;
  }
}

TEST(ToysTest, FactsFitTheModel) {
  for (const ToyRow& row : Toys()) {
    const auto denoiser = Make(std::string(row.name) + ":length=6,vocab=3,eos=2");
    const DenoiserInfo& info = denoiser->info();
    EXPECT_EQ(info.vocab_size, 4);
    EXPECT_EQ(info.mask_token, 3);
    EXPECT_EQ(info.max_length, 6);
    EXPECT_EQ(info.eos_tokens, (std::vector<Token>{2}));
    EXPECT_TRUE(info.name.starts_with("toy:" + std::string(row.name) + ",length=6,vocab=3,")) << info.name;
    EXPECT_NE(info.name.find(",eos=2"), std::string::npos) << info.name;
    EXPECT_TRUE(Make(std::string(row.name))->info().eos_tokens.empty());
  }
}

TEST(ToysTest, EosMustBeAToken) {
  for (const ToyRow& row : Toys()) {
    EXPECT_THROW(Make(std::string(row.name) + ":vocab=2,eos=2"), Error);
  }
}

TEST(ToysTest, BoundsAreKept) {
  for (const char* spec :
       {"product:length=0", "product:vocab=0", "product:length=65537", "markov:coupling=1.1", "markov:coupling=-0.1",
        "tree:concentration=0", "tree:shape=round", "joint:length=9", "joint:vocab=5", "mixture:components=0",
        "mixture:components=65", "markov:permute=yes", "product:coupling=0.5", "markov:length=65536,vocab=1024",
        "mixture:length=65536,vocab=4096,components=64", "product:length=65536,vocab=32768"}) {
    EXPECT_THROW(Make(spec), Error) << spec;
  }
}

TEST(ProductToyTest, NothingMovesAnything) {
  const auto denoiser = Make("product:length=6,vocab=3,seed=7");
  const ExactModel& model = ModelOf(*denoiser);
  const std::vector<double> alone = ConditionalsOf(model, std::vector<Token>(6, 3));
  ForEachCanvas(model, [&](std::span<const Token> canvas) { EXPECT_EQ(ConditionalsOf(model, canvas), alone); });
}

TEST(MarkovToyTest, WithoutCouplingItIsTheProductOfTheSameSeed) {
  for (const char* kind : {"markov", "tree"}) {
    const auto chain = Make(std::string(kind) + ":length=6,vocab=3,seed=7,coupling=0");
    const auto product = Make("product:length=6,vocab=3,seed=7");
    const std::vector<double> a = JointOf(ModelOf(*chain));
    const std::vector<double> b = JointOf(ModelOf(*product));
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-15);
  }
}

TEST(MarkovToyTest, WithFullCouplingTheFirstTokenDecides) {
  const auto denoiser = Make("markov:length=5,vocab=3,seed=7,coupling=1");
  int possible = 0;
  for (double p : JointOf(ModelOf(*denoiser))) possible += p > 0 ? 1 : 0;
  EXPECT_EQ(possible, 3);
  const std::vector<double> rows = ConditionalsOf(ModelOf(*denoiser), std::vector<Token>{3, 3, 1, 3, 3});
  for (std::size_t i = 0; i < 5; ++i) {
    if (i == 2) continue;
    EXPECT_EQ(*std::max_element(rows.begin() + 3 * i, rows.begin() + 3 * i + 3), 1) << i;
  }
}

TEST(MarkovToyTest, PlainChainFollowsThePositions) {
  const auto denoiser = Make("markov:length=5");
  const std::span<const Position> parents = ForestOf(*denoiser).parents();
  EXPECT_EQ(std::vector<Position>(parents.begin(), parents.end()), (std::vector<Position>{-1, 0, 1, 2, 3}));
}

/// Positions in the order of the chain.
std::vector<std::size_t> ChainOrder(const ForestModel& model) {
  const std::span<const Position> parents = model.parents();
  std::vector<std::size_t> order;
  Position last = -1;
  while (order.size() < parents.size()) {
    const auto next = std::find(parents.begin(), parents.end(), last);
    if (next == parents.end()) throw std::logic_error("not a chain");
    last = static_cast<Position>(next - parents.begin());
    order.push_back(static_cast<std::size_t>(last));
  }
  return order;
}

TEST(MarkovToyTest, PermutedChainIsThePlainOneUnderOtherNames) {
  const auto plain = Make("markov:length=7,vocab=3,seed=4,coupling=0.7");
  const auto permuted = Make("markov:length=7,vocab=3,seed=4,coupling=0.7,permute=true");
  const std::vector<std::size_t> order = ChainOrder(ForestOf(*permuted));
  EXPECT_NE(order, ChainOrder(ForestOf(*plain)));
  std::size_t compared = 0;
  ForEachCanvas(ModelOf(*plain), [&](std::span<const Token> canvas) {
    if (compared++ % 7 != 0) return;  // a part of 4^7 canvases is enough
    std::vector<Token> scattered(canvas.size());
    for (std::size_t node = 0; node < canvas.size(); ++node) scattered[order[node]] = canvas[node];
    const std::vector<double> a = ConditionalsOf(ModelOf(*plain), canvas);
    const std::vector<double> b = ConditionalsOf(ModelOf(*permuted), scattered);
    for (std::size_t node = 0; node < canvas.size(); ++node) {
      for (std::size_t v = 0; v < 3; ++v) ASSERT_NEAR(a[node * 3 + v], b[order[node] * 3 + v], 1e-14);
    }
  });
}

TEST(TreeToyTest, ShapesAreTrees) {
  const auto binary = Make("tree:length=7,shape=binary");
  const std::span<const Position> heap = ForestOf(*binary).parents();
  EXPECT_EQ(std::vector<Position>(heap.begin(), heap.end()), (std::vector<Position>{-1, 0, 0, 1, 1, 2, 2}));

  std::set<std::vector<Position>> shapes;
  for (int seed = 0; seed < 20; ++seed) {
    const auto random = Make("tree:length=6,seed=" + std::to_string(seed));
    const std::span<const Position> parents = ForestOf(*random).parents();
    EXPECT_EQ(std::count(parents.begin(), parents.end(), -1), 1);
    for (Position i = 1; i < 6; ++i) EXPECT_LT(parents[static_cast<std::size_t>(i)], i);
    shapes.insert({parents.begin(), parents.end()});
  }
  EXPECT_GT(shapes.size(), 10u);
}

// A revealed node separates: what is behind it does not matter.
TEST(TreeToyTest, RevealedNodesSeparate) {
  const auto denoiser = Make("tree:length=7,vocab=3,shape=binary,seed=2");
  const ExactModel& model = ModelOf(*denoiser);
  for (Token left = 0; left < 3; ++left) {
    const std::vector<double> a = ConditionalsOf(model, std::vector<Token>{1, 3, 3, left, 3, 3, 3});
    const std::vector<double> b = ConditionalsOf(model, std::vector<Token>{1, 3, 3, 3, 3, 3, 3});
    for (std::size_t i : {2u, 5u, 6u}) {
      for (std::size_t v = 0; v < 3; ++v) EXPECT_NEAR(a[i * 3 + v], b[i * 3 + v], 1e-15);
    }
    EXPECT_GT(std::abs(a[4 * 3] - b[4 * 3]) + std::abs(a[4 * 3 + 1] - b[4 * 3 + 1]), 1e-6);
  }
}

TEST(MixtureToyTest, OneComponentIsAProduct) {
  const auto denoiser = Make("mixture:length=4,vocab=3,components=1");
  const std::vector<double> alone = ConditionalsOf(ModelOf(*denoiser), std::vector<Token>(4, 3));
  const std::vector<double> full = ConditionalsOf(ModelOf(*denoiser), std::vector<Token>{0, 1, 2, 0});
  for (std::size_t i = 0; i < full.size(); ++i) EXPECT_NEAR(alone[i], full[i], 1e-15);
}

TEST(MixtureToyTest, RevealingSettlesTheComponent) {
  const auto denoiser = Make("mixture:length=64,vocab=8,components=4,concentration=0.3,seed=5");
  const auto& model = dynamic_cast<const MixtureModel&>(ModelOf(*denoiser));
  std::vector<Token> canvas(64, 8);
  EXPECT_NEAR(model.Posterior(canvas)[0], 0.25, 1e-15);
  // Always the most likely token: the posterior drifts to one component.
  for (std::size_t i = 0; i < 32; ++i) {
    const std::vector<double> rows = ConditionalsOf(model, canvas);
    const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(8 * i);
    canvas[i] = static_cast<Token>(std::max_element(begin, begin + 8) - begin);
  }
  const std::vector<double> posterior = model.Posterior(canvas);
  EXPECT_GT(*std::max_element(posterior.begin(), posterior.end()), 0.99);
}

}  // namespace
}  // namespace punt
