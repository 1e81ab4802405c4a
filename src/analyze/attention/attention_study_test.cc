#include "analyze/attention/attention_study.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "punt/error.h"
#include "punt/model.h"

namespace punt {
namespace {

Model Golden(const char* name) {
  return OpenModel((std::filesystem::path(PUNT_SOURCE_DIR) / "tests/golden" / name).string());
}

CommittedStep StepOn(const Model& model, std::vector<Position> positions) {
  const DenoiserInfo& info = model.denoiser->info();
  CommittedStep step{.step = 3, .canvas = std::vector<Token>(12, info.mask_token), .positions = std::move(positions)};
  step.canvas[0] = 5;
  for (std::size_t i = 0; i < step.positions.size(); ++i) step.tokens.push_back(static_cast<Token>(7 + 2 * i));
  return step;
}

TEST(AttentionStudy, MassLiesBetweenNothingAndEverything) {
  for (const char* name : {"llada", "dream", "esm2", "bert"}) {
    const Model model = Golden(name);
    // More tokens than one batch holds.
    const CommittedStep step = StepOn(model, {4, 9, 2, 7, 1, 11, 3, 5, 10, 6, 8});
    const std::vector<AttendedToken> tokens = MeasureAttention(*model.denoiser, {&step, 1}, {});
    const ParallelErrorReport report = MeasureParallelError(*model.denoiser, {&step, 1});
    ASSERT_EQ(tokens.size(), 10u) << name;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      EXPECT_EQ(tokens[i].error.kl_new_base, report.tokens[i + 1].kl_new_base) << name;
      EXPECT_EQ(tokens[i].error.position, step.positions[i + 1]);
      for (double mass : tokens[i].delta_a) {
        EXPECT_GT(mass, 0) << name;
        EXPECT_LT(mass, 1) << name;
      }
      EXPECT_GT(tokens[i].delta_a_masked, 0);
      for (const StateDifferences& layer : tokens[i].layers) {
        for (double difference : layer) EXPECT_TRUE(difference >= 0 && std::isfinite(difference)) << name;
      }
      EXPECT_GT(tokens[i].layers.back()[0], 1e-6) << name;
    }
    // The first layer's queries, keys and values see one token alone: a mask before and after. Where a shift lets the
    // column before stand for a position, that column may be one that is revealed; in ESM-2 the embeddings are scaled
    // by the share of masks.
    if (std::string(name) != "llada" && std::string(name) != "bert") continue;
    for (const AttendedToken& token : tokens) {
      for (std::size_t kind : {1, 2, 3}) EXPECT_LT(token.layers.front()[kind], 1e-6) << name;
    }
  }
}

TEST(AttentionStudy, BatchesDoNotMatter) {
  const Model model = Golden("llada");
  const CommittedStep whole = StepOn(model, {4, 9, 2, 7, 1, 11, 3, 5, 10, 6, 8});
  const std::vector<AttendedToken> all = MeasureAttention(*model.denoiser, {&whole, 1}, {});
  for (std::size_t count = 2; count <= 10; count += 4) {
    CommittedStep part = whole;
    part.positions.resize(count);
    part.tokens.resize(count);
    const AttendedToken last = MeasureAttention(*model.denoiser, {&part, 1}, {}).back();
    EXPECT_NEAR(last.mean_delta_a(), all[count - 2].mean_delta_a(), 1e-6);
    EXPECT_NEAR(last.layers.back()[0], all[count - 2].layers.back()[0], 1e-4);
  }
}

TEST(AttentionStudy, StepsOfOneTokenGiveNothingAndToysAreRefused) {
  const Model model = Golden("llada");
  const CommittedStep step = StepOn(model, {4});
  EXPECT_TRUE(MeasureAttention(*model.denoiser, {&step, 1}, {}).empty());
  EXPECT_THROW(MeasureAttention(*OpenModel("toy:markov,length=12").denoiser, {&step, 1}, {}), Error);
}

AttendedToken MadeUp(double kl, std::vector<double> heads, double difference) {
  AttendedToken token;
  token.error.kl_new_base = kl;
  token.error.revealed_before = 1;
  token.delta_a = std::move(heads);
  token.layers = {{difference, 0, 0, 2 * difference}};
  return token;
}

TEST(AttentionStudy, SummaryOfTokensMadeByHand) {
  AttentionRun run{.id = "a", .planner = "punt", .nfe = 7};
  run.tokens = {MadeUp(0.1, {0.1, 0.9}, 1), MadeUp(0.2, {0.3, 0.8}, 2), MadeUp(0.3, {0.8, 0.7}, 3)};
  const AttentionRun again = ParseAttentionRun(AttentionRunLine(run));
  EXPECT_EQ(AttentionRunLine(again), AttentionRunLine(run));
  const AttentionSummary row = SummariseAttention({&again, 1}).front();
  EXPECT_EQ(row.tokens, 3);
  EXPECT_EQ(row.nfe, 7);
  EXPECT_DOUBLE_EQ(row.error.middle, 0.2);
  EXPECT_DOUBLE_EQ(row.delta_a.middle, 0.55);
  EXPECT_DOUBLE_EQ(*row.correlation, 1);
  EXPECT_DOUBLE_EQ(*row.head_correlation[0], 1);
  EXPECT_DOUBLE_EQ(*row.head_correlation[1], -1);
  EXPECT_DOUBLE_EQ(row.layers[0][0].middle, 2);
  EXPECT_DOUBLE_EQ(row.layers[0][3].middle, 4);
  const AttentionReport report{.model = "m", .sampling = "s", .command = "c", .rows = {row}};
  EXPECT_NE(AttentionSvg(report).find("</svg>"), std::string::npos);
  EXPECT_NE(StatesSvg(report).find("</svg>"), std::string::npos);
  EXPECT_EQ(AttentionMarkdown(report).find("nan"), std::string::npos);
  EXPECT_THROW(AttentionSvg({.model = "m", .sampling = "s", .command = "c", .rows = {AttentionSummary{}}}), Error);
  EXPECT_THROW(ParseAttentionRun("{\"id\":1}"), Error);
}

}  // namespace
}  // namespace punt
