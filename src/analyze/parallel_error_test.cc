#include "analyze/parallel_error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "denoise/toy_joint.h"
#include "punt/error.h"
#include "punt/generator.h"
#include "punt/model.h"

namespace punt {
namespace {

constexpr const char* kJoint = "toy:joint,length=4,vocab=3,seed=5";

/// p(x_row = v | the tokens of canvas that are not masks), summed over all sequences.
std::vector<double> BruteForceRow(const ExactModel& model, const std::vector<Token>& canvas, Position row) {
  std::vector<double> mass(static_cast<std::size_t>(model.states()), 0.0);
  std::vector<Token> tokens(canvas.size(), 0);
  while (true) {
    bool fits = true;
    for (std::size_t i = 0; i < canvas.size(); ++i)
      fits = fits && (canvas[i] == model.states() || canvas[i] == tokens[i]);
    if (fits) mass[static_cast<std::size_t>(tokens[static_cast<std::size_t>(row)])] += model.Probability(tokens);
    std::size_t digit = 0;
    while (digit < tokens.size() && ++tokens[digit] == model.states()) tokens[digit++] = 0;
    if (digit == tokens.size()) break;
  }
  const double sum = std::accumulate(mass.begin(), mass.end(), 0.0);
  for (double& m : mass) m /= sum;
  return mass;
}

double Kl(const std::vector<double>& p, const std::vector<double>& q) {
  double sum = 0;
  for (std::size_t v = 0; v < p.size(); ++v) sum += p[v] * std::log(p[v] / q[v]);
  return sum;
}

const ExactModel& ExactOf(const Model& model) { return dynamic_cast<const ExactDenoiser&>(*model.denoiser).model(); }

TEST(ParallelError, EqualsBruteForceOnAJoint) {
  const Model model = OpenModel(kJoint);
  // Position 1 is revealed already; 3, 0 and 2 are committed in this order.
  const CommittedStep step{.step = 7, .canvas = {3, 2, 3, 3}, .positions = {3, 0, 2}, .tokens = {1, 0, 2}};
  const ParallelErrorReport report = MeasureParallelError(*model.denoiser, {&step, 1});

  ASSERT_EQ(report.tokens.size(), 3u);
  std::vector<Token> canvas = step.canvas;
  double total_new_base = 0, total_base_new = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::vector<double> base = BruteForceRow(ExactOf(model), step.canvas, step.positions[i]);
    const std::vector<double> fresh = BruteForceRow(ExactOf(model), canvas, step.positions[i]);
    EXPECT_NEAR(report.tokens[i].kl_new_base, Kl(fresh, base), 1e-12) << i;
    EXPECT_NEAR(report.tokens[i].kl_base_new, Kl(base, fresh), 1e-12) << i;
    EXPECT_EQ(report.tokens[i].position, step.positions[i]);
    EXPECT_EQ(report.tokens[i].revealed_before, static_cast<int>(i));
    EXPECT_EQ(report.tokens[i].step, 7);
    total_new_base += report.tokens[i].kl_new_base;
    total_base_new += report.tokens[i].kl_base_new;
    canvas[static_cast<std::size_t>(step.positions[i])] = step.tokens[i];
  }
  EXPECT_EQ(report.tokens[0].kl_new_base, 0);
  EXPECT_GT(report.tokens[2].kl_new_base, 1e-3);
  EXPECT_DOUBLE_EQ(report.total_new_base, total_new_base);
  EXPECT_DOUBLE_EQ(report.total_base_new, total_base_new);
  EXPECT_EQ(report.passes, 3);
}

TEST(ParallelError, LargeStepsEqualOnePassPerToken) {
  // More tokens than one batch holds.
  const Model model = OpenModel("toy:markov,length=300,vocab=4,seed=2,permute=true");
  CommittedStep step{.canvas = std::vector<Token>(300, 4)};
  for (Position i = 0; i < 300; ++i) {
    step.positions.push_back((i * 7) % 300);
    step.tokens.push_back(static_cast<Token>(i % 4));
  }
  const ParallelErrorReport report = MeasureParallelError(*model.denoiser, {&step, 1});
  EXPECT_EQ(report.passes, 300);

  const auto session = model.denoiser->NewSession({});
  const auto row_of = [&](const std::vector<Token>& canvas, Position position) {
    const Query query{.canvas = canvas, .rows = {&position, 1}};
    const PassRef pass = session->Forward({&query, 1}).front();
    std::vector<double> row(5);
    const LogProbRequest request{.pass = pass.get(), .rows = {&position, 1}, .out = row};
    session->LogProbs({&request, 1});
    return row;
  };
  std::vector<Token> canvas = step.canvas;
  for (std::size_t i = 0; i < 300; ++i) {
    const std::vector<double> base = row_of(step.canvas, step.positions[i]);
    const std::vector<double> fresh = row_of(canvas, step.positions[i]);
    EXPECT_NEAR(report.tokens[i].kl_new_base, DivergenceOfRows(base, fresh, {.kind = Divergence::kKlNewBase}), 1e-9)
        << i;
    EXPECT_NEAR(report.tokens[i].kl_base_new, DivergenceOfRows(base, fresh, {.kind = Divergence::kKlBaseNew}), 1e-9)
        << i;
    canvas[static_cast<std::size_t>(step.positions[i])] = step.tokens[i];
  }
}

GenerateResult RunCollected(const Model& model, const char* planner, CommitCollector* collector) {
  const DenoiserInfo& info = model.denoiser->info();
  const Canvas canvas(std::vector<Token>(static_cast<std::size_t>(info.max_length), info.mask_token), info.mask_token,
                      info.vocab_size);
  const auto session = model.denoiser->NewSession({});
  return Generate(*session, canvas, MakeRecipe(planner, "margin", {}, info), {.observer = collector});
}

TEST(ParallelError, IsZeroForIndependentPositions) {
  const Model model = OpenModel("toy:product,length=20,vocab=4,seed=1");
  CommitCollector collector;
  RunCollected(model, "top-k:k=7", &collector);
  const ParallelErrorReport report = MeasureParallelError(*model.denoiser, collector.steps());
  EXPECT_EQ(report.tokens.size(), 20u);
  EXPECT_LT(report.total_new_base, 1e-12);
  EXPECT_LT(report.total_base_new, 1e-12);
}

TEST(ParallelError, OneTokenPerStepCostsNothing) {
  const Model model = OpenModel("toy:markov,length=12,vocab=4,seed=1");
  CommitCollector collector;
  RunCollected(model, "left-to-right", &collector);
  const ParallelErrorReport report = MeasureParallelError(*model.denoiser, collector.steps());
  EXPECT_EQ(report.passes, 0);
  EXPECT_EQ(report.tokens.size(), 12u);
  EXPECT_EQ(report.total_new_base, 0);
}

TEST(ParallelError, DoesNotCountIntoTheRun) {
  const Model model = OpenModel("toy:markov,length=32,vocab=4,seed=1");
  CommitCollector collector;
  const GenerateResult result = RunCollected(model, "top-k:k=4", &collector);
  const ParallelErrorReport report = MeasureParallelError(*model.denoiser, collector.steps());
  EXPECT_EQ(result.counters.nfe(), 8);
  EXPECT_EQ(report.passes, 32);
  EXPECT_GT(report.total_new_base, 0);
}

TEST(CommitCollector, FollowsCommitsAndRemasks) {
  CommitCollector collector;
  collector.On(RunEvent{.model = "", .planner = "", .score = "", .mask_token = 9, .canvas = {9, 1, 9, 9}});
  collector.On(CommitEvent{.step = 0, .positions = {2, 0}, .tokens = {5, 6}, .confidence = {0, 0}, .remasked = {}});
  collector.On(CommitEvent{.step = 1, .positions = {}, .tokens = {}, .confidence = {}, .remasked = {2}});
  collector.On(CommitEvent{.step = 2, .positions = {2}, .tokens = {7}, .confidence = {0}, .remasked = {0}});
  collector.On(CommitEvent{.step = 3, .positions = {0}, .tokens = {8}, .confidence = {0}, .remasked = {}});
  const std::vector<CommittedStep>& steps = collector.steps();
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].canvas, (std::vector<Token>{9, 1, 9, 9}));
  EXPECT_EQ(steps[1].canvas, (std::vector<Token>{6, 1, 9, 9}));
  EXPECT_EQ(steps[2].canvas, (std::vector<Token>{9, 1, 7, 9}));
  EXPECT_EQ(steps[2].step, 3);
}

TEST(CommitCollector, RefusesWhatCannotBelongTogether) {
  const CommitEvent commit{.step = 0, .positions = {4}, .tokens = {1}, .confidence = {0}, .remasked = {}};
  CommitCollector collector;
  EXPECT_THROW(collector.On(commit), Error);
  collector.On(RunEvent{.model = "", .planner = "", .score = "", .mask_token = 2, .canvas = {2, 2}});
  EXPECT_THROW(collector.On(commit), Error);
  EXPECT_THROW(collector.On(CommitEvent{.step = 0, .positions = {0}, .tokens = {}, .confidence = {}, .remasked = {}}),
               Error);
}

}  // namespace
}  // namespace punt
