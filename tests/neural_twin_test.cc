// Sessions of networks against the naive twins on their dense rows, and whole generations alone and in batches.
#include <gtest/gtest.h>

#include <cmath>

#include "denoise/neural_testing.h"
#include "punt/generator.h"

namespace punt {
namespace {

class NeuralTwin : public ::testing::TestWithParam<const char*> {
 protected:
  const GoldenDenoiser golden_{GetParam()};
  const NeuralDenoiser& denoiser_ = *golden_;
  const std::size_t vocab_ = static_cast<std::size_t>(denoiser_.info().vocab_size);
  const double size_ = static_cast<double>(vocab_);
};

TEST_P(NeuralTwin, ProposalsAreThoseOfTheDenseRows) {
  TwoPasses run(denoiser_, {.banned_tokens = {7}});
  const std::vector<double> dense = run.Dense(1);
  for (const ProposalOptions& options : kProposals) {
    const std::vector<Proposal> got = run.Propose(options);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const auto row = std::span(dense).subspan(i * vocab_, vocab_);
      const Proposal twin = ProposeFromRow(row, run.rows[i], options, {.seed = 3, .step = 4});
      ASSERT_EQ(got[i].position, run.rows[i]);
      ASSERT_EQ(got[i].token, twin.token) << "row " << i;
      ASSERT_EQ(got[i].top_token, twin.top_token) << "row " << i;
      ASSERT_NEAR(got[i].token_prob, twin.token_prob,
                  2 * RowSumBound<float>(size_));  // of the row, and of its dense twin
      ASSERT_NEAR(got[i].top_prob, twin.top_prob, 2 * RowSumBound<float>(size_));
      ASSERT_NEAR(got[i].second_prob, twin.second_prob, 2 * RowSumBound<float>(size_));
      ASSERT_NEAR(got[i].entropy, twin.entropy, 2 * EntropyBound<float>(size_));
    }
  }
}

TEST_P(NeuralTwin, DivergencesAreThoseOfTheDenseRows) {
  TwoPasses run(denoiser_, {});
  const std::vector<double> base = run.Dense(0);
  const std::vector<double> fresh = run.Dense(1);
  for (const DivergenceOptions& options : Divergences()) {
    const std::vector<double> got = run.Diverge(options);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double twin = DivergenceOfRows(std::span(base).subspan(i * vocab_, vocab_),
                                           std::span(fresh).subspan(i * vocab_, vocab_), options);
      if (std::isinf(twin)) {
        ASSERT_EQ(got[i], twin) << Name(options.kind) << " row " << i;
      } else {
        ASSERT_NEAR(got[i], twin, 2 * DivergenceBound<float>(size_, twin)) << Name(options.kind) << " row " << i;
      }
    }
  }
}

// Random numbers are keyed by sample and position and rows do not depend on their batch, so neither do texts.
TEST_P(NeuralTwin, GenerationsInABatchAreThoseAlone) {
  const std::vector<std::size_t> lengths = {20, 33, 20, 7, 64};
  std::vector<Canvas> canvases;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    canvases.emplace_back(RandomCanvas(denoiser_.info(), lengths[i], 0.3, i), denoiser_.info().mask_token,
                          denoiser_.info().vocab_size);
  }
  for (double temperature : {0.0, 1.0}) {
    for (const char* planner : {"top-k:k=3", "punt"}) {
      Recipe recipe = MakeRecipe(planner, "", {.temperature = temperature}, denoiser_.info());
      recipe.seed = 11;
      const std::vector<GenerateResult> together = GenerateBatch(denoiser_, {}, canvases, recipe);
      ASSERT_EQ(together.size(), canvases.size());
      for (std::size_t i = 0; i < canvases.size(); ++i) {
        Recipe own = recipe;
        own.sample = recipe.sample + i;
        const auto session = denoiser_.NewSession({});
        const GenerateResult alone = Generate(*session, canvases[i], own);
        EXPECT_EQ(together[i].tokens, alone.tokens) << planner << " at " << temperature << ", sequence " << i;
        EXPECT_EQ(together[i].steps, alone.steps);
        EXPECT_EQ(together[i].counters.nfe(), alone.counters.nfe());
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, NeuralTwin,
                         ::testing::Values("llada", "dream", "llada2_moe", "esm2", "bert", "distilbert"),
                         [](const auto& folder) { return std::string(folder.param); });

}  // namespace
}  // namespace punt
