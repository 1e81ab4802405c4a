// Attention maps of networks: means over heads and ranges of layers.
#include <gtest/gtest.h>

#include <stdexcept>

#include "denoise/neural_testing.h"

namespace punt {
namespace {

TEST(NeuralAttention, IsTheMeanOfHeadsAndLayers) {
  for (const char* folder : {"llada", "dream", "llada2_moe", "esm2", "bert"}) {
    const GoldenDenoiser golden(folder);
    const std::vector<Token> canvas = RandomCanvas(golden->info(), 40, 0.5);
    const std::vector<Token> other = RandomCanvas(golden->info(), 9, 0.5);
    const std::vector<Position> rows = {3, 8};
    const auto session = golden->NewSession({});
    const std::vector<PassRef> passes = session->Forward(
        std::vector<Query>{{.canvas = other, .rows = rows}, {.canvas = canvas, .rows = rows, .attention = kAllLayers}});
    std::vector<float> attention(40 * 40);
    const AttentionRequest request{.pass = passes[1].get(), .out = attention};
    session->Attention({&request, 1});

    std::vector<int> layers(static_cast<std::size_t>(golden->network().hyper().layers));
    std::iota(layers.begin(), layers.end(), 0);
    NetworkRunner runner(golden->network(), {});
    const std::vector<Token> whole = InWholeBlocks(golden->network(), canvas);
    const Sequence sequence{.tokens = whole, .rows = rows};
    std::vector<AttentionProbabilities> maps;
    runner.Hidden({&sequence, 1}, layers, &maps);
    ASSERT_EQ(maps.size(), layers.size());
    const double bound = AttentionMapBound(folder, canvas);
    for (std::size_t q = 0; q < 40; ++q) {
      double sum = 0;
      for (std::size_t k = 0; k < 40; ++k) {
        double mean = 0;
        for (const AttentionProbabilities& map : maps) {
          for (std::size_t h = 0; h < 4; ++h) mean += map.values[(h * whole.size() + q) * whole.size() + k];
        }
        mean /= 4.0 * static_cast<double>(maps.size());
        EXPECT_NEAR(attention[q * 40 + k], mean, bound);
        EXPECT_GE(attention[q * 40 + k], 0.0f);
        sum += attention[q * 40 + k];
      }
      if (whole.size() == 40 || q < 32) {
        EXPECT_NEAR(sum, 1, kMapSum) << folder << " row " << q;
      } else {
        EXPECT_LT(sum, 1) << folder << " row " << q;  // the rest is on masks that fill the block of 32
      }
    }
    // The rows are those of a pass that keeps none.
    const auto plain = golden->NewSession({});
    EXPECT_LE(LargestGap(DenseRows(*session, passes[1], rows), DenseRows(*plain, RunOnce(*plain, canvas, rows), rows)),
              RowBound(folder, 40));

    std::vector<float> none(9 * 9);
    const AttentionRequest unkept{.pass = passes[0].get(), .out = none};
    EXPECT_THROW(session->Attention({&unkept, 1}), std::logic_error);
  }
}

// Ranges of layers, several of one pass, and passes that ask for different ones in a batch.
TEST(NeuralAttention, OfSomeLayers) {
  const GoldenDenoiser llada("llada");
  const int depth = static_cast<int>(llada->network().hyper().layers);
  ASSERT_GE(depth, 2);
  const std::vector<Token> canvas = RandomCanvas(llada->info(), 40, 0.5);
  const std::vector<Position> rows = {3, 8};
  std::vector<int> layers(static_cast<std::size_t>(depth));
  std::iota(layers.begin(), layers.end(), 0);
  NetworkRunner runner(llada->network(), {});
  const Sequence sequence{.tokens = canvas, .rows = rows};
  std::vector<AttentionProbabilities> maps;
  runner.Hidden({&sequence, 1}, layers, &maps);

  const double half = 0.5;
  const std::vector<LayerRange> early = {{0, 0}, {0, half}};
  const std::vector<LayerRange> late = {{1, 1}, {half, 1}, {0, 1}};
  const auto expected = [&](const LayerRange& range) {  // first layer and the one behind the last
    if (range == LayerRange{0, 0}) return std::pair{0, 1};
    if (range == LayerRange{0, half}) return std::pair{0, (depth + 1) / 2};
    if (range == LayerRange{1, 1}) return std::pair{depth - 1, depth};
    if (range == LayerRange{half, 1}) return std::pair{depth / 2, depth};
    return std::pair{0, depth};
  };
  const auto session = llada->NewSession({});
  const std::vector<PassRef> passes =
      session->Forward(std::vector<Query>{{.canvas = canvas, .rows = rows, .attention = early},
                                          {.canvas = canvas, .rows = rows},
                                          {.canvas = canvas, .rows = rows, .attention = late}});
  const double bound = AttentionMapBound("llada", canvas);
  for (const auto& [pass, ranges] : {std::pair{passes[0], early}, {passes[2], late}}) {
    for (const LayerRange& range : ranges) {
      std::vector<float> attention(40 * 40);
      const AttentionRequest request{.pass = pass.get(), .layers = range, .out = attention};
      session->Attention({&request, 1});
      const auto [first, end] = expected(range);
      for (std::size_t i = 0; i < attention.size(); ++i) {
        double mean = 0;
        for (int layer = first; layer < end; ++layer) {
          for (std::size_t h = 0; h < 4; ++h) mean += maps[static_cast<std::size_t>(layer)].values[h * 1600 + i];
        }
        EXPECT_NEAR(attention[i], mean / (4.0 * (end - first)), bound) << range.begin << ".." << range.end;
      }
    }
  }
  std::vector<float> none(40 * 40);
  const AttentionRequest unkept{.pass = passes[0].get(), .layers = {1, 1}, .out = none};
  EXPECT_THROW(session->Attention({&unkept, 1}), std::logic_error);
  const LayerRange beyond[] = {{0.5, 1.5}};
  const Query wrong{.canvas = canvas, .rows = rows, .attention = beyond};
  EXPECT_THROW(session->Forward({&wrong, 1}), std::logic_error);
}

TEST(NeuralAttention, GuidanceAndShadowsLeaveItAlone) {
  const GoldenDenoiser llada("llada");
  const std::vector<Token> canvas = RandomCanvas(llada->info(), 20, 0.5);
  const std::vector<Position> rows = {2, 3};
  const std::vector<Position> shadows = {4, 9, 11};
  const auto attention = [&](const SessionOptions& options, std::span<const Position> shadowed) {
    const auto session = llada->NewSession(options);
    const Query query{.canvas = canvas, .rows = rows, .shadows = shadowed, .attention = kAllLayers};
    const std::vector<PassRef> passes = session->Forward(std::vector<Query>{query, query});
    std::vector<float> out(20 * 20);
    const AttentionRequest request{.pass = passes[1].get(), .out = out};
    session->Attention({&request, 1});
    return out;
  };
  const std::vector<float> plain = attention({}, {});
  const double bound = AttentionMapBound("llada", canvas);
  EXPECT_LE(LargestDifference(attention({.guidance = 1, .prompt = {0, 1, 2}}, {}), plain), bound);
  EXPECT_LE(LargestDifference(attention({}, shadows), plain), bound);
  EXPECT_LE(LargestDifference(attention({.guidance = 1, .prompt = {0, 1, 2}}, shadows), plain), bound);
}

}  // namespace
}  // namespace punt
