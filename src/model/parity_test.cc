// Networks against the logits of the original implementations: every case of every fixture.
#include <gtest/gtest.h>

#include "model/network_bounds_testing.h"

namespace punt {
namespace {

class Parity : public ::testing::TestWithParam<GoldenFixture> {};

TEST_P(Parity, LogitsOfEveryCase) {
  const auto network = OpenGolden(GetParam().folder);
  NetworkRunner runner(*network, {});
  const SafetensorsFile truth(GoldenFolder(GetParam().truth) / "logits.safetensors");
  int compared = 0;
  for (const GoldenCase& c : GoldenCases(GetParam().inputs)) {
    const auto expected = GoldenTensor(truth, c.name);
    if (!expected && std::string(GetParam().truth) != GetParam().inputs) continue;  // fewer cases than its sibling
    ASSERT_TRUE(expected.has_value()) << c.name;
    EXPECT_LE(LargestDifference(LogitsOf(runner, *network, c), *expected), kLogitBound) << c.name << " " << c.kind;
    ++compared;
  }
  EXPECT_GE(compared, 10);
}

// What the bounds are made of fits the contract: rounding alone stays below the golden bound, and the bounds are no
// larger than they need be.
TEST_P(Parity, RoundingIsWhatTheBoundsSay) {
  const double arithmetic = LogitBounds(GetParam()).arithmetic;
  RecordProperty("arithmetic", std::to_string(arithmetic));
  EXPECT_LE(arithmetic, kLogitBound);
  const double worst = WorstError(GoldenRows(*OpenGolden(GetParam().folder), GetParam()));
  RecordProperty("worst", std::to_string(worst));
  EXPECT_LE(worst, 2 * arithmetic);  // the reference computes in floats as well
  EXPECT_GT(worst, arithmetic / kLoosest) << "the bound says nothing";
}

TEST_P(Parity, SomeRowsAreTheSameAsAllRows) {
  const auto network = OpenGolden(GetParam().folder);
  NetworkRunner runner(*network, {});
  EXPECT_TRUE(network->is_batch_invariant());  // mixtures of experts, too
  const auto vocab = static_cast<std::size_t>(network->hyper().vocab_size);
  for (const GoldenCase& c : GoldenCases(GetParam().inputs)) {
    const std::vector<float> all = LogitsOf(runner, *network, c);
    std::vector<Position> rows;
    for (Position row = static_cast<Position>(c.tokens.size()) - 1; row >= 0; row -= 3) rows.push_back(row);
    const Sequence sequence = SequenceOf(c, rows);
    std::vector<float> some(rows.size() * vocab);
    runner.Logits(runner.Hidden({&sequence, 1}), some);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto expected = std::span(all).subspan(static_cast<std::size_t>(rows[i]) * vocab, vocab);
      EXPECT_LE(LargestDifference(std::span(some).subspan(i * vocab, vocab), expected), 0) << c.name;
    }
  }
}

TEST_P(Parity, ABatchOfDifferentLengthsChangesNothing) {
  const auto network = OpenGolden(GetParam().folder);
  NetworkRunner runner(*network, {});
  EXPECT_TRUE(network->is_batch_invariant());  // mixtures of experts, too
  const std::vector<GoldenCase> cases = GoldenCases(GetParam().inputs);
  std::vector<std::vector<Position>> rows;
  for (const GoldenCase& c : cases) rows.push_back(AllRows(c));
  std::vector<Sequence> batch;
  for (std::size_t i = 0; i < cases.size(); ++i) batch.push_back(SequenceOf(cases[i], rows[i]));
  const std::vector<float> hidden = runner.Hidden(batch);
  const auto dim = static_cast<std::size_t>(network->hyper().model_dim);
  const auto vocab = static_cast<std::size_t>(network->hyper().vocab_size);
  std::size_t first = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::vector<float> logits(rows[i].size() * vocab);
    runner.Logits(std::span(hidden).subspan(first * dim, rows[i].size() * dim), logits);
    first += rows[i].size();
    EXPECT_LE(LargestDifference(logits, LogitsOf(runner, *network, cases[i])), 0) << cases[i].name;
  }
}

/// Of all queries and keys.
std::vector<float> LastAttention(const Network& network, const GoldenCase& c) {
  NetworkRunner runner(network, {});
  const std::vector<Position> rows = {0};
  const Sequence sequence = SequenceOf(c, rows);
  std::vector<AttentionProbabilities> attention;
  const int last = static_cast<int>(network.hyper().layers) - 1;
  runner.Hidden({&sequence, 1}, {&last, 1}, &attention);
  EXPECT_EQ(attention.size(), 1u);
  return attention.front().values;
}

TEST_P(Parity, AttentionOfTheLastLayer) {
  const std::filesystem::path file = GoldenFolder(GetParam().truth) / "attention.safetensors";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << GetParam().truth << " comes without attention.safetensors";
  const SafetensorsFile truth(file);
  ASSERT_FALSE(truth.entries().empty());
  const auto network = OpenGolden(GetParam().folder);
  const std::string debug_case = ReadJson(GoldenFolder(GetParam().inputs) / "inputs.json")["debug_case"];
  for (const GoldenCase& c : GoldenCases(GetParam().inputs)) {
    if (c.name != debug_case) continue;
    const auto expected = GoldenTensor(truth, truth.entries().front().name);
    const auto read = [&c](const Network& any) { return LastAttention(any, c); };
    const auto length = static_cast<double>(c.tokens.size());
    // The reference computes in floats as well.
    EXPECT_LE(LargestDifference(read(*network), *expected), BoundsOf(GetParam().folder, length, read).Twice());
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, Parity, ::testing::ValuesIn(kGoldenFixtures),
                         [](const auto& fixture) { return std::string(fixture.param.folder); });

}  // namespace
}  // namespace punt
