// States of layers against what else a pass tells: the last output is the hidden rows, and queries and keys make the
// attention.
#include <gtest/gtest.h>

#include <cmath>

#include "model/network_bounds_testing.h"

namespace punt {
namespace {

class LayerStatesOf : public ::testing::TestWithParam<const char*> {};

std::vector<Token> SomeTokens(std::size_t length, std::int64_t vocab) {
  std::vector<Token> tokens(length);
  for (std::size_t i = 0; i < length; ++i)
    tokens[i] = static_cast<Token>((5 + 7 * i) % static_cast<std::size_t>(vocab));
  return tokens;
}

TEST_P(LayerStatesOf, QueriesAndKeysMakeTheAttention) {
  const auto network = OpenGolden(GetParam());
  const Hyperparameters& hyper = network->hyper();
  constexpr std::size_t kLength = 9;
  const std::vector<Token> tokens = SomeTokens(kLength, hyper.vocab_size);
  std::vector<Position> rows(kLength);
  std::iota(rows.begin(), rows.end(), 0);
  const Sequence sequence{.tokens = tokens, .rows = rows};
  NetworkRunner runner(*network, {.keeps_states = true});
  std::vector<int> layers(static_cast<std::size_t>(hyper.layers));
  std::iota(layers.begin(), layers.end(), 0);
  std::vector<AttentionProbabilities> attention;
  const std::vector<float> hidden = runner.Hidden({&sequence, 1}, layers, &attention);
  ASSERT_EQ(std::ssize(runner.states()), hyper.layers);
  EXPECT_EQ(runner.states().back().output, hidden);

  const auto dim = static_cast<std::size_t>(hyper.head_dim), heads = static_cast<std::size_t>(hyper.heads);
  const auto kv_heads = static_cast<std::size_t>(hyper.kv_heads);
  for (const LayerStates& states : runner.states()) {
    const AttentionProbabilities& map = attention[static_cast<std::size_t>(states.layer)];
    ASSERT_EQ(states.queries.size(), kLength * heads * dim);
    ASSERT_EQ(states.keys.size(), kLength * kv_heads * dim);
    ASSERT_EQ(states.values.size(), states.keys.size());
    for (std::size_t head = 0; head < heads; ++head) {
      for (std::size_t i = 0; i < kLength; ++i) {
        std::vector<double> weights(kLength);
        double sum = 0, magnitude = 0;
        for (std::size_t j = 0; j < kLength; ++j) {
          double dot = 0, size = 0;
          for (std::size_t d = 0; d < dim; ++d) {
            const double product = static_cast<double>(states.queries[(i * heads + head) * dim + d]) *
                                   states.keys[(j * kv_heads + head * kv_heads / heads) * dim + d];
            dot += product;
            size += std::abs(product);
          }
          weights[j] = std::exp(dot / std::sqrt(static_cast<double>(dim)));
          sum += weights[j];
          magnitude = std::max(magnitude, size / std::sqrt(static_cast<double>(dim)));
        }
        const double bound = SoftmaxBound(static_cast<double>(dim), kLength, magnitude);
        for (std::size_t j = 0; j < kLength; ++j) {
          const double expected = weights[j] / sum;
          EXPECT_NEAR(map.values[(head * kLength + i) * kLength + j], expected, bound * expected);
        }
      }
    }
  }
}

/// Everything that a network keeps of a pass over all positions.
std::vector<float> AllStates(const Network& network) {
  const std::vector<Token> tokens = SomeTokens(9, network.hyper().vocab_size);
  const std::vector<Position> rows = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  NetworkRunner runner(network, {.keeps_states = true});
  const Sequence sequence{.tokens = tokens, .rows = rows};
  runner.Hidden({&sequence, 1});
  std::vector<float> all;
  for (const LayerStates& states : runner.states()) {
    for (const auto* part : {&states.output, &states.queries, &states.keys, &states.values}) {
      all.insert(all.end(), part->begin(), part->end());
    }
  }
  return all;
}

TEST_P(LayerStatesOf, AreThoseOfTheRowsAskedInTheirOrder) {
  const auto network = OpenGolden(GetParam());
  const double bound = BoundsOf(GetParam(), 9, AllStates).Twice();
  const std::vector<Token> tokens = SomeTokens(9, network->hyper().vocab_size);
  const std::vector<Position> all = {0, 1, 2, 3, 4, 5, 6, 7, 8}, some = {7, 2, 5},
                              permuted = {8, 7, 6, 5, 4, 3, 2, 1, 0};
  NetworkRunner runner(*network, {.keeps_states = true});
  const int last = static_cast<int>(network->hyper().layers) - 1;
  const auto states_of = [&](const std::vector<Position>& rows, bool with_attention) {
    const Sequence sequence{.tokens = tokens, .rows = rows};
    std::vector<AttentionProbabilities> attention;
    if (with_attention) {
      runner.Hidden({&sequence, 1}, {&last, 1}, &attention);
    } else {
      runner.Hidden({&sequence, 1});
    }
    return runner.states();
  };
  const std::vector<LayerStates> whole = states_of(all, true);
  for (const std::vector<Position>& rows : {some, permuted}) {
    for (bool with_attention : {true, false}) {
      const std::vector<LayerStates> part = states_of(rows, with_attention);
      for (std::size_t layer = 0; layer < whole.size(); ++layer) {
        const auto same = [&](const std::vector<float>& a, const std::vector<float>& b) {
          const std::size_t size = a.size() / all.size();
          ASSERT_EQ(b.size(), size * rows.size());
          for (std::size_t i = 0; i < b.size(); ++i) {
            const std::size_t row = static_cast<std::size_t>(rows[i / size]);
            ASSERT_NEAR(b[i], a[row * size + i % size], bound) << layer;
          }
        };
        same(whole[layer].output, part[layer].output);
        same(whole[layer].queries, part[layer].queries);
        same(whole[layer].keys, part[layer].keys);
        same(whole[layer].values, part[layer].values);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, LayerStatesOf, ::testing::Values("llada", "dream", "llada_moe", "esm2", "bert"),
                         [](const auto& fixture) { return std::string(fixture.param); });

}  // namespace
}  // namespace punt
