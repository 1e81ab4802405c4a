#include "analyze/error/error_study.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "punt/error.h"
#include "punt/generator.h"
#include "punt/model.h"

namespace punt {
namespace {

ErrorRun RunOn(const Model& model, const std::string& planner, std::uint64_t sample) {
  const DenoiserInfo& info = model.denoiser->info();
  const auto session = model.denoiser->NewSession({});
  const Canvas canvas(std::vector<Token>(static_cast<std::size_t>(info.max_length), info.mask_token), info.mask_token,
                      info.vocab_size);
  Recipe recipe = MakeRecipe(planner, "", {}, info);
  recipe.sample = sample;
  CommitCollector collector;
  const GenerateResult result = Generate(*session, canvas, recipe, {.observer = &collector});
  ParallelErrorReport report = MeasureParallelError(*model.denoiser, collector.steps());
  return {.id = planner + std::to_string(sample),
          .family = planner.substr(0, planner.find(':')),
          .planner = planner,
          .score = info.default_score,
          .sample = sample,
          .base_passes = result.counters.base_passes,
          .test_passes = result.counters.test_passes,
          .steps = result.steps,
          .extra_passes = report.passes,
          .tokens = std::move(report.tokens)};
}

ErrorRun MadeUp(const std::string& planner, std::vector<double> errors, std::int64_t nfe = 4) {
  ErrorRun run{.id = planner, .family = planner.substr(0, planner.find(':')), .planner = planner, .base_passes = nfe};
  for (std::size_t i = 0; i < errors.size(); ++i) {
    run.tokens.push_back({.position = static_cast<Position>(i),
                          .revealed_before = static_cast<int>(i),
                          .kl_new_base = errors[i],
                          .kl_base_new = 2 * errors[i]});
  }
  return run;
}

TEST(ErrorStudy, OneByOneHasNoErrorAtAll) {
  const Model model = OpenModel("toy:markov,length=24,vocab=4,seed=1,coupling=0.9,permute=true");
  std::vector<ErrorRun> runs;
  for (const char* planner : {"top-k:k=1", "left-to-right", "top-k:k=6"}) {
    for (std::uint64_t sample : {0, 1}) runs.push_back(RunOn(model, planner, sample));
  }
  const std::vector<ErrorSummary> rows = SummariseErrors(runs);
  ASSERT_EQ(rows.size(), 3u);
  for (std::size_t i : {0, 1}) {
    EXPECT_EQ(rows[i].new_base.per_token.value, 0) << rows[i].planner;
    EXPECT_EQ(rows[i].base_new.per_sequence, 0);
    EXPECT_EQ(rows[i].new_base.most, 0);
    EXPECT_EQ(rows[i].parallel_tokens, 0);
    EXPECT_EQ(rows[i].extra_passes, 0);
    EXPECT_TRUE(rows[i].by_revealed.empty());
    EXPECT_EQ(rows[i].nfe.value, 24);
  }
  EXPECT_GT(rows[2].new_base.per_token.value, 1e-3);
  EXPECT_EQ(rows[2].nfe.value, 4);  // the passes that measure are not counted
  EXPECT_EQ(rows[2].extra_passes, 2 * 24);
}

TEST(ErrorStudy, IndependentPositionsHaveNoError) {
  const Model model = OpenModel("toy:product,length=16,vocab=4,seed=1");
  const std::vector<ErrorRun> runs = {RunOn(model, "punt:epsilon=0.01,fallback=false", 0),
                                      RunOn(model, "top-k:k=16", 0)};
  for (const ErrorSummary& row : SummariseErrors(runs)) {
    EXPECT_EQ(row.parallel_tokens, 15) << row.planner;
    EXPECT_NEAR(row.new_base.most, 0, 1e-12) << row.planner;
  }
}

TEST(ErrorStudy, FiguresEqualNaiveOnes) {
  const Model model = OpenModel("toy:tree,length=48,vocab=4,seed=3,coupling=0.8");
  std::vector<ErrorRun> runs;
  for (std::uint64_t sample = 0; sample < 3; ++sample)
    runs.push_back(RunOn(model, "punt:epsilon=0.08,fallback=false", sample));
  const std::vector<ErrorSummary> rows = SummariseErrors(runs);
  ASSERT_EQ(rows.size(), 1u);
  const ErrorSummary& row = rows.front();
  double sum = 0, tokens = 0, nfe = 0;
  std::int64_t above = 0;
  std::vector<double> parallel;
  for (const ErrorRun& run : runs) {
    nfe += static_cast<double>(run.nfe()) / 3;
    for (const TokenError& token : run.tokens) {
      sum += token.kl_new_base;
      tokens += 1;
      if (token.revealed_before > 0) parallel.push_back(token.kl_new_base);
      above += token.kl_new_base > 0.08 ? 1 : 0;
    }
  }
  ASSERT_GT(parallel.size(), 30u);
  std::sort(parallel.begin(), parallel.end());
  EXPECT_NEAR(row.new_base.per_token.value, sum / tokens, 1e-12);
  EXPECT_NEAR(row.new_base.per_parallel_token, sum / static_cast<double>(parallel.size()), 1e-12);
  EXPECT_NEAR(row.new_base.per_sequence, sum / 3, 1e-12);
  EXPECT_NEAR(row.nfe.value, nfe, 1e-12);
  EXPECT_EQ(row.new_base.most, parallel.back());
  EXPECT_EQ(row.tokens, 3 * 48);
  EXPECT_DOUBLE_EQ(*row.epsilon, 0.08);
  EXPECT_DOUBLE_EQ(*row.above_epsilon, static_cast<double>(above) / static_cast<double>(parallel.size()));
  std::int64_t binned = 0;
  for (const RevealedBin& bin : row.by_revealed) binned += bin.tokens;
  EXPECT_EQ(binned, std::ssize(parallel));
}

TEST(ErrorStudy, BinsTileTheWholeNumbers) {
  int next = 1;
  while (next < 5000) {
    const RevealedRange range = RevealedRangeOf(next);
    ASSERT_EQ(range.low, next);
    for (int i = range.low; i <= range.high; ++i) ASSERT_EQ(RevealedRangeOf(i).low, range.low);
    next = range.high + 1;
  }
}

TEST(ErrorStudy, InfiniteErrorsAreCountedAndNeverNan) {
  ErrorRun run = MadeUp("top-k:k=4", {0, 0.5, 1.5, 2});
  run.tokens[2].kl_base_new = INFINITY;
  run.tokens[3].kl_base_new = INFINITY;
  const ErrorRun again = ParseErrorRun(ErrorRunLine(run));
  EXPECT_EQ(again.tokens[2].kl_base_new, INFINITY);
  const std::vector<ErrorSummary> rows = SummariseErrors({&again, 1});
  EXPECT_EQ(rows[0].base_new.infinite, 2);
  EXPECT_DOUBLE_EQ(rows[0].base_new.per_token.value, 0.5);  // (0 + 1) / 2
  EXPECT_EQ(rows[0].base_new.median, INFINITY);
  EXPECT_EQ(rows[0].new_base.infinite, 0);
  const ErrorReport report{.model = "m", .sampling = "s", .command = "c", .rows = rows};
  for (const std::string& text : {ErrorJson(report, -1), ErrorMarkdown(report), ErrorNfeSvg(report),
                                  ErrorRevealedSvg(report, true), ErrorCsv({&again, 1})}) {
    EXPECT_EQ(text.find("nan"), std::string::npos) << text;
  }
  EXPECT_EQ(ErrorJson(report, -1).find("inf,"), std::string::npos);
  EXPECT_NE(ErrorJson(report, -1).find("\"median\":null"), std::string::npos);
  EXPECT_NE(ErrorCsv({&again, 1}).find(",inf\n"), std::string::npos);
}

TEST(ErrorStudy, RecordsComeBackAsTheyWere) {
  const Model model = OpenModel("toy:mixture,length=12,vocab=3,seed=4");
  const ErrorRun run = RunOn(model, "punt:epsilon=0.3,fallback=false", 5);
  const ErrorRun again = ParseErrorRun(ErrorRunLine(run));
  EXPECT_EQ(ErrorRunLine(again), ErrorRunLine(run));
  EXPECT_EQ(again.sample, 5u);
  EXPECT_EQ(again.nfe(), run.nfe());
  ASSERT_EQ(again.tokens.size(), run.tokens.size());
  for (std::size_t i = 0; i < run.tokens.size(); ++i) {
    EXPECT_EQ(again.tokens[i].kl_new_base, run.tokens[i].kl_new_base);  // to the last bit
    EXPECT_EQ(again.tokens[i].position, run.tokens[i].position);
  }
  EXPECT_THROW(ParseErrorRun("nonsense"), Error);
  EXPECT_THROW(ParseErrorRun("{\"id\":\"a\"}"), Error);
  std::string shorter = ErrorRunLine(run);
  shorter.replace(shorter.find("\"position\":["), 12, "\"position\":[0,");
  EXPECT_THROW(ParseErrorRun(shorter), Error);
}

TEST(ErrorStudy, CurvesAreReadBetweenTheirSettings) {
  const std::vector<ErrorRun> runs = {MadeUp("top-k:k=1", {0, 0.4}, 100), MadeUp("top-k:k=4", {0, 2}, 25),
                                      MadeUp("punt", {0, 0.1}, 50)};
  const std::vector<ErrorSummary> rows = SummariseErrors(runs);
  EXPECT_DOUBLE_EQ(*ErrorAtNfe(rows, "top-k", 25), 1.0);
  EXPECT_DOUBLE_EQ(*ErrorAtNfe(rows, "top-k", 100), 0.2);
  EXPECT_NEAR(*ErrorAtNfe(rows, "top-k", 50), 0.6, 1e-12);  // half-way in the logarithm
  EXPECT_FALSE(ErrorAtNfe(rows, "top-k", 24.9));
  EXPECT_FALSE(ErrorAtNfe(rows, "top-k", 100.1)) << "it takes no more than 100";
  EXPECT_FALSE(ErrorAtNfe(rows, "dilated", 50));
  const std::string text = ErrorMarkdown({.model = "m", .sampling = "s", .command = "c", .rows = rows});
  EXPECT_NE(text.find("top-k: PUNT's mean is the smaller one at 1 of 1 settings where both have points"),
            std::string::npos)
      << text;
}

TEST(ErrorStudy, ComparesOnlyWhereBothHavePoints) {
  // PUNT with 128 passes for 2 tokens against settings that take 16 and 30: nothing says what they would do with more.
  const std::vector<ErrorRun> runs = {MadeUp("top-k:k=4", {0, 2}, 16), MadeUp("top-k:k=2", {0, 1}, 30),
                                      MadeUp("punt:epsilon=0.01", {0, 0.001}, 128),
                                      MadeUp("punt:epsilon=2", {0, 1}, 20), MadeUp("dilated", {0, 3}, 16)};
  const std::string text =
      ErrorMarkdown({.model = "m", .sampling = "s", .command = "c", .rows = SummariseErrors(runs)});
  EXPECT_NE(text.find("| `punt:epsilon=0.01` | 128 | 0.0005 | - | - |"), std::string::npos) << text;
  EXPECT_NE(text.find("top-k: PUNT's mean is the smaller one at 1 of 1 settings"), std::string::npos) << text;
  EXPECT_NE(text.find("dilated: none of its settings brackets PUNT's passes"), std::string::npos) << text;
  EXPECT_NE(text.find("one by one is exact with 2 passes; 2 of PUNT's 2 settings take as many or more"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace punt
