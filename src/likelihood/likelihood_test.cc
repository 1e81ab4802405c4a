// Likelihoods by enumeration: on exact models the estimates meet the truth, on others what they are bounds of.
#include "punt/likelihood.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error_testing.h"
#include "denoise/exact_model.h"
#include "denoise/row_model_testing.h"
#include "denoise/toy_truth_testing.h"
#include "likelihood/forced_order.h"
#include "likelihood/masked_questions.h"
#include "punt/model.h"
#include "punt/random.h"

namespace punt {
namespace {

using testing::MakeRowModel;

constexpr const char* kToys[] = {"toy:joint,length=5,vocab=3,seed=1", "toy:markov,length=6,vocab=4,seed=2,permute=true",
                                 "toy:product,length=4,vocab=3,seed=4", "toy:tree,length=6,vocab=3,seed=5"};

LikelihoodText TextOf(std::vector<Token> canvas) {
  LikelihoodText text{.canvas = std::move(canvas)};
  text.positions.resize(text.canvas.size());
  std::iota(text.positions.begin(), text.positions.end(), 0);
  return text;
}

Likelihood MeasureOn(const Model& model, const LikelihoodText& text, const LikelihoodOptions& options) {
  const auto session = model.denoiser->NewSession({});
  return *MeasureLikelihood(*session, text, options);
}

const ExactModel& ExactOf(const Model& model) { return dynamic_cast<const ExactDenoiser&>(*model.denoiser).model(); }

/// A text of probability that is not zero.
LikelihoodText SomeText(const Model& model, std::uint64_t seed) {
  const ExactModel& exact = ExactOf(model);
  RandomStream random(seed);
  while (true) {
    std::vector<Token> tokens(static_cast<std::size_t>(exact.length()));
    for (Token& token : tokens) token = static_cast<Token>(random.Below(static_cast<std::uint64_t>(exact.states())));
    if (exact.Probability(tokens) > 0) return TextOf(tokens);
  }
}

TEST(Likelihood, TheTruthIsTheModels) {
  for (const char* toy : kToys) {
    const Model model = OpenModel(toy);
    const LikelihoodText text = SomeText(model, 3);
    EXPECT_DOUBLE_EQ(*TrueNats(*model.denoiser, text), -std::log(ExactOf(model).Probability(text.canvas)));
  }
  const Model rows = MakeRowModel({"a"}, 4, [](std::span<const Token>, Position) { return std::vector<double>(4); });
  EXPECT_FALSE(TrueNats(*rows.denoiser, TextOf({3})).has_value());
}

// Against sums of the joint over everything that is not known.
TEST(Likelihood, TheTruthOfAPartIsAQuotientOfMarginals) {
  const Model model = OpenModel("toy:joint,length=5,vocab=3,seed=1");
  const ExactModel& exact = ExactOf(model);
  // A canvas of four positions; 0 and 2 are given.
  const LikelihoodText text{.canvas = {1, 0, 2, 2}, .positions = {1, 3}};
  double given = 0, whole = 0;
  ForEachSequence(5, 3, [&](std::span<const Token> tokens) {
    if (tokens[0] != 1 || tokens[2] != 2) return;
    given += exact.Probability(tokens);
    if (tokens[1] == 0 && tokens[3] == 2) whole += exact.Probability(tokens);
  });
  EXPECT_NEAR(*TrueNats(*model.denoiser, text), -std::log(whole / given), 1e-12);
  EXPECT_NEAR(MeasureOn(model, text, {.method = LikelihoodMethod::kLeftToRight}).nats, -std::log(whole / given), 1e-12);
}

TEST(Likelihood, EveryOrderGivesTheTruthOnExactModels) {
  for (const char* toy : kToys) {
    SCOPED_TRACE(toy);
    const Model model = OpenModel(toy);
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const LikelihoodText text = SomeText(model, seed);
      const double truth = *TrueNats(*model.denoiser, text);
      EXPECT_NEAR(MeasureOn(model, text, {.method = LikelihoodMethod::kLeftToRight}).nats, truth, 1e-9);
      const Likelihood orders =
          MeasureOn(model, text, {.method = LikelihoodMethod::kRandomOrders, .draws = 4, .seed = seed});
      EXPECT_NEAR(orders.nats, truth, 1e-9);
      EXPECT_NEAR(*orders.standard_error, 0, 1e-9);
      for (const char* planner : {"top-k:k=1", "left-to-right"}) {
        EXPECT_NEAR(MeasureOn(model, text, {.method = LikelihoodMethod::kPlanner, .planner = planner}).nats, truth,
                    1e-9)
            << planner;
      }
    }
  }
}

/// What each set of hidden positions gives, for the expectation over all of them.
double ExpectedBound(const Model& model, const LikelihoodText& text) {
  const auto session = model.denoiser->NewSession({});
  const std::size_t n = text.positions.size();
  std::vector<double> sums(n + 1), counts(n + 1);
  for (unsigned mask = 1; mask < 1u << n; ++mask) {
    std::vector<Position> hidden;
    for (std::size_t i = 0; i < n; ++i) {
      if ((mask >> i & 1) != 0) hidden.push_back(text.positions[i]);
    }
    const MaskedQuestion question = Hide(text.canvas, hidden, session->info().mask_token);
    sums[hidden.size()] += MaskedNll(*session, {&question, 1}).front();
    counts[hidden.size()] += 1;
  }
  double mean = 0;
  for (std::size_t l = 1; l <= n; ++l) mean += sums[l] / counts[l] * static_cast<double>(n) / static_cast<double>(l);
  return mean / static_cast<double>(n);
}

/// Rows that belong to no joint: they depend on how much is masked.
Model Inconsistent() {
  return MakeRowModel({"a", "b", "c"}, 5, [](std::span<const Token> canvas, Position position) {
    const auto masks = static_cast<double>(std::count(canvas.begin(), canvas.end(), 2));
    std::vector<double> row(6, -INFINITY);
    for (std::size_t v = 3; v < 6; ++v) {
      const double left = position > 0 ? canvas[static_cast<std::size_t>(position - 1)] : 1;
      row[v] = std::sin(static_cast<double>(v) * (1 + left) + 0.7 * masks + static_cast<double>(position));
    }
    return row;
  });
}

// The mean over all masks is the mean over all orders of the chain rule, whatever the rows are.
TEST(Likelihood, TheBoundIsTheMeanOverOrdersAndNoLessThanTheLossOfTheirMean) {
  const Model model = Inconsistent();
  const LikelihoodText text = TextOf({3, 5, 4, 4});
  const auto session = model.denoiser->NewSession({});
  std::vector<Position> order = text.positions;
  double mean = 0, mean_prob = 0, count = 0;
  do {
    double nats = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      const MaskedQuestion rest = Hide(text.canvas, std::span(order).subspan(k), 2);
      const MaskedQuestion one{
          .canvas = rest.canvas, .rows = {order[k]}, .answers = {text.canvas[static_cast<std::size_t>(order[k])]}};
      nats += MaskedNll(*session, {&one, 1}).front();
    }
    mean += nats;
    mean_prob += std::exp(-nats);
    ++count;
  } while (std::next_permutation(order.begin(), order.end()));
  mean /= count;
  EXPECT_NEAR(ExpectedBound(model, text), mean, 1e-9);
  EXPECT_GT(mean, -std::log(mean_prob / count) + 1e-3) << "the rows should differ between orders";
}

TEST(Likelihood, TheBoundIsUnbiasedForTheMeanOverAllMasks) {
  for (const bool is_stratified : {true, false}) {
    for (const Model& model : {Inconsistent(), OpenModel("toy:joint,length=4,vocab=3,seed=6")}) {
      const LikelihoodText text = model.is_toy ? SomeText(model, 2) : TextOf({3, 5, 4, 4});
      const double expected = ExpectedBound(model, text);
      if (model.is_toy) {
        EXPECT_NEAR(expected, *TrueNats(*model.denoiser, text), 1e-9);
      }
      double sum = 0, squares = 0;
      constexpr int kRuns = 400;
      for (int run = 0; run < kRuns; ++run) {
        const double nats =
            MeasureOn(model, text,
                      {.draws = 10, .is_stratified = is_stratified, .seed = static_cast<std::uint64_t>(run)})
                .nats;
        sum += nats;
        squares += nats * nats;
      }
      const double mean = sum / kRuns;
      const double error = std::sqrt((squares / kRuns - mean * mean) / kRuns);
      EXPECT_NEAR(mean, expected, 4 * error) << model.name << " stratified " << is_stratified;
      EXPECT_LT(error, 0.1);
    }
  }
}

TEST(Likelihood, TheTruthLiesInTheIntervalOfTheBound) {
  int inside = 0, runs = 0;
  for (const char* toy : kToys) {
    const Model model = OpenModel(toy);
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      const LikelihoodText text = SomeText(model, seed);
      const Likelihood bound = MeasureOn(model, text, {.draws = 64, .seed = seed});
      inside += std::abs(bound.nats - *TrueNats(*model.denoiser, text)) <= 2 * *bound.standard_error + 1e-9;
      ++runs;
    }
  }
  EXPECT_GE(inside, runs * 93 / 100) << "of " << runs;
}

TEST(Likelihood, StratificationLowersTheScatter) {
  const Model model = OpenModel("toy:markov,length=12,vocab=4,seed=2,permute=true");
  const LikelihoodText text = SomeText(model, 1);
  const auto scatter = [&](bool is_stratified) {
    double sum = 0, squares = 0, errors = 0;
    constexpr int kRuns = 300;
    for (int run = 0; run < kRuns; ++run) {
      const Likelihood bound = MeasureOn(
          model, text, {.draws = 24, .is_stratified = is_stratified, .seed = static_cast<std::uint64_t>(run)});
      sum += bound.nats;
      squares += bound.nats * bound.nats;
      errors += *bound.standard_error * *bound.standard_error;
    }
    const double variance = squares / kRuns - std::pow(sum / kRuns, 2);
    // The reported error is that of the runs: exact for independent draws, at most a little too large for stratified.
    EXPECT_NEAR(errors / kRuns, variance, (is_stratified ? 0.5 : 0.3) * variance);
    return variance;
  };
  EXPECT_LT(scatter(true), 0.8 * scatter(false));
}

TEST(Likelihood, TokensSumToTheWhole) {
  const Model model = OpenModel("toy:markov,length=8,vocab=4,seed=2");
  const LikelihoodText text = SomeText(model, 1);
  for (const char* name : {"bound", "left-to-right", "random-orders", "planner", "pseudo"}) {
    const Likelihood measured = MeasureOn(model, text, {.method = ParseLikelihoodMethod(name), .draws = 8});
    EXPECT_EQ(measured.token_nats.size(), 8u);
    EXPECT_NEAR(std::accumulate(measured.token_nats.begin(), measured.token_nats.end(), 0.0), measured.nats, 1e-12);
  }
}

TEST(Likelihood, PseudoIsEachTokenGivenAllOthers) {
  const Model model = OpenModel("toy:joint,length=5,vocab=3,seed=1");
  const LikelihoodText text = SomeText(model, 1);
  double nats = 0;
  for (std::size_t i = 0; i < 5; ++i) {
    double sum = 0;
    std::vector<Token> tokens = text.canvas;
    for (tokens[i] = 0; tokens[i] < 3; ++tokens[i]) sum += ExactOf(model).Probability(tokens);
    nats -= std::log(ExactOf(model).Probability(text.canvas) / sum);
  }
  EXPECT_NEAR(MeasureOn(model, text, {.method = LikelihoodMethod::kPseudo}).nats, nats, 1e-9);
}

// All at once: the product of the marginals, by hand from the joint.
TEST(Likelihood, APlannersStepsCountAsTheyAre) {
  const Model model = OpenModel("toy:joint,length=4,vocab=3,seed=7");
  const LikelihoodText text = SomeText(model, 3);
  const Likelihood measured = MeasureOn(model, text, {.method = LikelihoodMethod::kPlanner, .planner = "top-k:k=4"});
  const std::vector<double> rows = ConditionalsOf(ExactOf(model), std::vector<Token>(4, 3));
  double nats = 0;
  for (std::size_t i = 0; i < 4; ++i) nats -= std::log(rows[i * 3 + static_cast<std::size_t>(text.canvas[i])]);
  EXPECT_NEAR(measured.nats, nats, 1e-9);
  EXPECT_GT(std::abs(nats - *TrueNats(*model.denoiser, text)), 1e-3) << "the tokens should depend on each other";
  EXPECT_EQ(measured.counters.nfe(), 1);
}

TEST(Likelihood, AnEndOfSequenceInTheTextDoesNotEndTheMeasurement) {
  const Model model = OpenModel("toy:markov,length=9,vocab=4,seed=3,eos=3");
  const LikelihoodText text = TextOf({0, 3, 1, 2, 3, 0, 1, 1, 2});
  const Likelihood measured =
      MeasureOn(model, text, {.method = LikelihoodMethod::kPlanner, .planner = "left-to-right"});
  EXPECT_NEAR(measured.nats, *TrueNats(*model.denoiser, text), 1e-9);
}

TEST(Likelihood, IsTheSameForAnyBatchAndDependsOnSeedAndSample) {
  const Model model = OpenModel("toy:markov,length=8,vocab=4,seed=2");
  const LikelihoodText text = SomeText(model, 1);
  for (const LikelihoodMethod method : {LikelihoodMethod::kBound, LikelihoodMethod::kRandomOrders}) {
    const auto nats = [&](LikelihoodOptions options) {
      options.method = method;
      options.draws = 12;
      const auto session = model.denoiser->NewSession({.threads = options.passes_at_once > 4 ? 2 : 1});
      return MeasureLikelihood(*session, text, options)->token_nats;
    };
    EXPECT_EQ(nats({.seed = 1}), nats({.seed = 1, .passes_at_once = 1}));
    EXPECT_EQ(nats({.seed = 1}), nats({.seed = 1, .passes_at_once = 5}));
    EXPECT_NE(nats({.seed = 1}), nats({.seed = 2}));
    EXPECT_NE(nats({.seed = 1}), nats({.seed = 1, .sample = 1}));
  }
}

TEST(Likelihood, CountsEveryPass) {
  const Model model = OpenModel("toy:markov,length=8,vocab=4,seed=2");
  const LikelihoodText text = SomeText(model, 1);
  EXPECT_EQ(MeasureOn(model, text, {.draws = 20}).counters.nfe(), 20);
  EXPECT_EQ(MeasureOn(model, text, {.method = LikelihoodMethod::kLeftToRight}).counters.nfe(), 8);
  EXPECT_EQ(MeasureOn(model, text, {.method = LikelihoodMethod::kRandomOrders, .draws = 3}).counters.nfe(), 24);
  EXPECT_EQ(MeasureOn(model, text, {.method = LikelihoodMethod::kPseudo}).counters.nfe(), 8);
}

TEST(Likelihood, ImpossibleTextsHaveInfiniteLoss) {
  const Model model = OpenModel("toy:markov,length=4,vocab=3");
  const auto session = model.denoiser->NewSession({.banned_tokens = {1}});
  const auto measured = MeasureLikelihood(*session, TextOf({0, 1, 2, 0}), {.draws = 16});
  EXPECT_TRUE(std::isinf(measured->nats));
  EXPECT_FALSE(measured->standard_error.has_value());
}

TEST(Likelihood, StopsWhenItIsCancelled) {
  const Model model = OpenModel("toy:markov,length=4,vocab=3");
  const std::atomic<bool> cancel = true;
  for (const LikelihoodMethod method :
       {LikelihoodMethod::kBound, LikelihoodMethod::kLeftToRight, LikelihoodMethod::kPlanner}) {
    const auto session = model.denoiser->NewSession({});
    EXPECT_FALSE(MeasureLikelihood(*session, TextOf({0, 1, 2, 0}), {.method = method, .cancel = &cancel}).has_value());
    EXPECT_EQ(session->counters().nfe(), 0);
  }
}

TEST(Likelihood, BadInputIsNamed) {
  const Model model = OpenModel("toy:markov,length=4,vocab=3");
  const auto error = [&](const LikelihoodText& text, const LikelihoodOptions& options = {}) {
    return ErrorOf([&] { MeasureOn(model, text, options); });
  };
  EXPECT_EQ(error({.canvas = {0, 1}}), "there is no token to measure");
  EXPECT_EQ(error({.canvas = {0, 1}, .positions = {2}}), "position 2 lies outside the text of 2 tokens");
  EXPECT_EQ(error({.canvas = {0, 1}, .positions = {1, 0}}), "position 0 is out of order");
  EXPECT_EQ(error(TextOf({0, 3})), "the text holds 3, which is the mask");
  EXPECT_EQ(error(TextOf({0, 1}), {.draws = 0}), "draws must be at least 1, got 0");
  EXPECT_NE(
      error(TextOf({0, 1}), {.method = LikelihoodMethod::kPlanner, .planner = "remdm"}).find("remdm takes tokens back"),
      std::string::npos);
  EXPECT_NE(ErrorOf([] { ParseLikelihoodMethod("bond"); }).find("unknown method 'bond'"), std::string::npos);
}

TEST(LeftToRight, PassesAreSharedBehindTheLastTokens) {
  EXPECT_EQ(LeftToRightPasses(10, -1), 10);
  EXPECT_EQ(LeftToRightPasses(10, 10), 10);
  EXPECT_EQ(LeftToRightPasses(10, 4), 4 + 2) << "stretches of 4, 2, then four alone";
  EXPECT_EQ(LeftToRightPasses(1000, 64), 64 + 9);
  EXPECT_EQ(LeftToRightPasses(0, 64), 0);
}

// Against the joint: a stretch's tokens are each conditioned on what is left of the stretch.
TEST(LeftToRight, RowsAreThoseOfTheirStretch) {
  const Model model = OpenModel("toy:joint,length=6,vocab=3,seed=3");
  const LikelihoodText text = SomeText(model, 4);
  const int begin_of[] = {0, 1, 1, 3, 4, 5};  // 1, 2, and three alone
  const auto session = model.denoiser->NewSession({});
  const auto rows = RowsLeftToRight(*session, text, {.alone = 3, .top = 1, .passes_at_once = 2});
  ASSERT_EQ(rows->size(), 6u);
  EXPECT_EQ(session->counters().nfe(), 5);
  for (std::size_t i = 0; i < 6; ++i) {
    std::vector<Token> canvas(6, 3);
    std::copy_n(text.canvas.begin(), begin_of[i], canvas.begin());
    const std::vector<double> conditionals = ConditionalsOf(ExactOf(model), canvas);
    const CommitRow& row = (*rows)[i];
    EXPECT_EQ(row.position, static_cast<Position>(i));
    EXPECT_NEAR(row.log_prob, std::log(conditionals[i * 3 + static_cast<std::size_t>(text.canvas[i])]), 1e-9);
    EXPECT_NEAR(row.top.at(0).log_prob,
                std::log(*std::max_element(conditionals.begin() + static_cast<std::ptrdiff_t>(i * 3),
                                           conditionals.begin() + static_cast<std::ptrdiff_t>(i * 3 + 3))),
                1e-9);
  }
  EXPECT_EQ((*rows)[1].step, (*rows)[2].step);
  EXPECT_LT((*rows)[2].step, (*rows)[3].step);
}

// In stretches or not, what the rows give to all texts together is 1.
TEST(LeftToRight, TheProbabilitiesOfAllTextsSumToOne) {
  const Model model = Inconsistent();
  const auto session = model.denoiser->NewSession({});
  for (const int alone : {-1, 2, 1}) {
    double sum = 0;
    ForEachSequence(4, 3, [&](std::span<const Token> digits) {
      std::vector<Token> canvas(digits.begin(), digits.end());
      for (Token& token : canvas) token += 3;
      double log_prob = 0;
      const auto rows = RowsLeftToRight(*session, TextOf(canvas), {.alone = alone});
      for (const CommitRow& row : *rows) log_prob += row.log_prob;
      sum += std::exp(log_prob);
    });
    EXPECT_NEAR(sum, 1, 1e-9) << alone;
  }
}

}  // namespace
}  // namespace punt
