// Sessions of networks: what they read against the raw logits of the network, and what must not matter - caches,
// batches, threads. Tests with the naive twins of proposals and divergences are in tests/neural_twin_test.cc.
#include "denoise/neural_denoiser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "denoise/neural_testing.h"
#include "punt/random.h"

namespace punt {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class NeuralSessions : public ::testing::TestWithParam<const char*> {
 protected:
  const GoldenDenoiser golden_{GetParam()};
  const NeuralDenoiser& denoiser_ = *golden_;
  const std::size_t vocab_ = static_cast<std::size_t>(denoiser_.info().vocab_size);

  /// The mask, and in proteins everything but the twenty amino acids (L, A, G, ... C: tokens 4 to 23).
  std::set<Token> NeverAnd(std::vector<Token> banned) const {
    std::set<Token> all(banned.begin(), banned.end());
    all.insert(denoiser_.info().mask_token);
    for (Token token = 0; GetParam() == std::string("esm2") && token < denoiser_.info().vocab_size; ++token) {
      if (token < 4 || token > 23) all.insert(token);
    }
    return all;
  }
};

// ---- what is read

TEST_P(NeuralSessions, RowsAreTheNetworksWithoutWhatIsBanned) {
  const std::vector<Token> banned = {3, 11};
  TwoPasses run(denoiser_, {.banned_tokens = banned});
  const std::vector<double> dense = run.Dense(0);
  const std::vector<float> raw = RawLogits(denoiser_.network(), run.base_canvas);
  const double bound = RowBound(GetParam());
  const bool shifts = denoiser_.network().hyper().shift_logits;
  EXPECT_EQ(shifts, std::string(GetParam()) == "dream");
  for (std::size_t i = 0; i < run.rows.size(); ++i) {
    const std::size_t source = shifts && i > 0 ? i - 1 : i;
    const std::vector<double> expected =
        LogSoftmaxWithout(std::span(raw).subspan(source * vocab_, vocab_), NeverAnd(banned));
    for (std::size_t v = 0; v < vocab_; ++v) {
      if (std::isinf(expected[v])) {
        ASSERT_EQ(dense[i * vocab_ + v], -kInfinity) << "row " << i << " token " << v;
      } else {
        ASSERT_NEAR(dense[i * vocab_ + v], expected[v], bound) << "row " << i << " token " << v;
      }
    }
  }
}

TEST_P(NeuralSessions, TokenProbsAreThoseOfTheDenseRows) {
  TwoPasses run(denoiser_, {});
  const std::vector<double> dense = run.Dense(0);
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < run.rows.size(); ++i) tokens.push_back(static_cast<Token>(i % vocab_));
  std::vector<double> got(tokens.size());
  const TokenProbRequest request{.pass = run.passes[0].get(), .rows = run.rows, .tokens = tokens, .out = got};
  run.session->TokenProbs({&request, 1});
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], std::exp(dense[i * vocab_ + static_cast<std::size_t>(tokens[i])]),
                64 * kDoubleUnit);  // both in float64, from the same logits: an exponential of a logarithm below 32
  }
}

// ---- what must not matter

TEST_P(NeuralSessions, TheLogitCacheChangesNothing) {
  const std::size_t row_bytes = vocab_ * sizeof(float);
  TwoPasses large(denoiser_, {});
  const std::vector<double> dense = large.Dense(1);
  for (std::size_t bytes : {std::size_t{0}, 89 * row_bytes, 90 * row_bytes, 200 * row_bytes}) {
    TwoPasses small(denoiser_, {.logit_cache_bytes = bytes});
    for (const DivergenceOptions& options : Divergences()) {
      const std::vector<double> first = small.Diverge(options);
      EXPECT_EQ(first, large.Diverge(options)) << bytes;
      EXPECT_EQ(first, small.Diverge(options)) << bytes;
    }
    for (const ProposalOptions& options : kProposals) {
      const std::vector<Proposal> got = small.Propose(options);
      const std::vector<Proposal> expected = large.Propose(options);
      for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i].token, expected[i].token) << bytes;
        ASSERT_EQ(got[i].entropy, expected[i].entropy) << bytes;
        ASSERT_EQ(got[i].token_prob, expected[i].token_prob) << bytes;
      }
    }
    EXPECT_EQ(small.Dense(1), dense) << bytes;
  }
}

TEST_P(NeuralSessions, TheOrderAndPortionsOfReadsChangeNothing) {
  TwoPasses run(denoiser_, {});
  const std::vector<double> dense = run.Dense(0);
  const double bound = RowBound(GetParam());
  for (std::size_t count : {1u, 2u, 63u, 64u, 65u}) {
    std::vector<Position> rows;
    for (std::size_t i = 0; i < count; ++i) rows.push_back(static_cast<Position>((i * 37 + 5) % run.rows.size()));
    const std::vector<double> some = DenseRows(*run.session, run.passes[0], rows);
    for (std::size_t i = 0; i < count; ++i) {
      const auto expected = std::span(dense).subspan(static_cast<std::size_t>(rows[i]) * vocab_, vocab_);
      EXPECT_LE(LargestGap(std::span(some).subspan(i * vocab_, vocab_), expected), bound) << count;
    }
  }
}

TEST_P(NeuralSessions, TheBatchChangesNothing) {
  const std::vector<std::size_t> lengths = {5, 40, 40, 1, 17, 40, 128, 2};
  std::vector<std::vector<Token>> canvases;
  std::vector<std::vector<Position>> rows;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    canvases.push_back(RandomCanvas(denoiser_.info(), lengths[i], 0.4, i));
    rows.push_back(AllPositions(lengths[i]));
  }
  const double bound = RowBound(GetParam());
  const auto session = denoiser_.NewSession({});
  std::vector<std::vector<double>> alone;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const Query query{.canvas = canvases[i], .rows = rows[i]};
    alone.push_back(DenseRows(*session, session->Forward({&query, 1}).front(), rows[i]));
  }
  std::vector<std::size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  for (int round = 0; round < 4; ++round) {
    std::vector<Query> queries;
    for (std::size_t i : order) queries.push_back({.canvas = canvases[i], .rows = rows[i]});
    const std::vector<PassRef> passes = session->Forward(queries);
    for (std::size_t slot = 0; slot < order.size(); ++slot) {
      const std::size_t i = order[slot];
      EXPECT_LE(LargestGap(DenseRows(*session, passes[slot], rows[i]), alone[i]), bound) << "canvas " << i;
    }
    std::rotate(order.begin(), order.begin() + 3, order.end());
    std::swap(order[0], order[1]);
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, NeuralSessions,
                         ::testing::Values("llada", "dream", "llada2_moe", "esm2", "bert", "distilbert"),
                         [](const auto& folder) { return std::string(folder.param); });

// Few and short: threads that outnumber the cores wait for one another at every operation.
TEST(NeuralThreads, ChangeNothing) {
  struct {
    const char* folder;
    int threads;
  } const cases[] = {{"llada", 2}, {"llada", 5}, {"dream", 2}, {"llada2_moe", 2}, {"esm2", 2}};
  for (const auto& c : cases) {
    const GoldenDenoiser golden(c.folder);
    TwoPasses one(*golden, {.threads = 1}, 20);
    TwoPasses more(*golden, {.threads = c.threads}, 20);
    EXPECT_EQ(more.Diverge({}), one.Diverge({})) << c.folder << " " << c.threads;
    EXPECT_EQ(more.Dense(0), one.Dense(0)) << c.folder << " " << c.threads;
    EXPECT_EQ(more.Dense(1), one.Dense(1)) << c.folder << " " << c.threads;
  }
}

}  // namespace
}  // namespace punt
