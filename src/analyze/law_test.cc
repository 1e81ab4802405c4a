#include "analyze/law.h"

#include <gtest/gtest.h>

#include <cmath>

#include "punt/error.h"
#include "punt/model.h"
#include "punt/planner.h"

namespace punt {
namespace {

Canvas Masked(const DenoiserInfo& info) {
  return Canvas(std::vector<Token>(static_cast<std::size_t>(info.max_length), info.mask_token), info.mask_token,
                info.vocab_size);
}

const ExactDenoiser& ExactOf(const Model& model) { return dynamic_cast<const ExactDenoiser&>(*model.denoiser); }

Law LawOf(const Model& model, std::string_view planner, std::string_view score = "margin", LawOptions options = {}) {
  const DenoiserInfo& info = model.denoiser->info();
  return EnumerateLaw(*model.denoiser, Masked(info), MakeRecipe(planner, score, {}, info), options);
}

TEST(Law, OneStepIsTheProductOfTheMarginals) {
  const Model model = OpenModel("toy:joint,length=3,vocab=2,seed=3");
  const Law law = LawOf(model, "top-k:k=3");
  std::vector<double> rows(6);
  ExactOf(model).model().Conditionals(std::vector<Token>{2, 2, 2}, rows);
  ASSERT_EQ(law.probabilities.size(), 8u);
  for (const auto& [tokens, probability] : law.probabilities) {
    double product = 1;
    for (std::size_t i = 0; i < 3; ++i) product *= rows[i * 2 + static_cast<std::size_t>(tokens[i])];
    EXPECT_NEAR(probability, product, 1e-14);
  }
  EXPECT_DOUBLE_EQ(law.mean_steps, 1);
  EXPECT_DOUBLE_EQ(law.mean_nfe, 1);
}

TEST(Law, WithoutChanceItIsTheRunItself) {
  // At temperature 0 there is one proposal, so the law is a point: what Generate gives, at its cost.
  const Model model = OpenModel("toy:markov,length=9,vocab=3,seed=4,permute=true");
  const DenoiserInfo& info = model.denoiser->info();
  const ProposalOptions greedy{.temperature = 0};
  for (const PlannerRow& row : Planners()) {
    if (row.needs_network) continue;
    Recipe recipe = MakeRecipe(row.name, "margin", greedy, info);
    recipe.seed = 11;
    const auto session = model.denoiser->NewSession({});
    const GenerateResult run = Generate(*session, Masked(info), recipe);
    const Law law = EnumerateLaw(*model.denoiser, Masked(info), recipe, {.proposal = greedy});
    ASSERT_EQ(law.probabilities.size(), 1u) << row.name;
    EXPECT_EQ(law.probabilities.begin()->first, run.tokens) << row.name;
    EXPECT_DOUBLE_EQ(law.mean_nfe, static_cast<double>(run.counters.nfe())) << row.name;
    EXPECT_DOUBLE_EQ(law.mean_calls, static_cast<double>(run.counters.calls)) << row.name;
    EXPECT_DOUBLE_EQ(law.mean_steps, run.steps) << row.name;
  }
}

TEST(Law, PlannersThatForeseeAreRefused) {
  const Model model = OpenModel("toy:joint,length=4,vocab=2,seed=6");
  int refused = 0;
  for (const PlannerRow& row : Planners()) {
    if (!row.foresees) continue;
    EXPECT_THROW(LawOf(model, row.name), Error) << row.name;
    ++refused;
  }
  EXPECT_GT(refused, 0);
}

TEST(Law, SumsToOneForEveryPlanner) {
  const Model model = OpenModel("toy:joint,length=4,vocab=2,seed=6");
  for (const PlannerRow& row : Planners()) {
    if (row.needs_network || row.foresees) continue;
    // Schedules of hundreds of steps are shortened; what is remembered per state makes them no different.
    const bool has_steps =
        std::any_of(row.params.begin(), row.params.end(), [](const ParamRow& p) { return p.key == "steps"; });
    const Law law = LawOf(model, std::string(row.name) + (has_steps ? ":steps=4" : ""));
    EXPECT_NEAR(TotalProbability(law), 1, 1e-12) << row.name;
    for (const auto& [tokens, probability] : law.probabilities) EXPECT_GT(probability, 0) << row.name;
  }
}

TEST(Law, MergingStatesChangesNothingForPlannersThatDoNotLookBack) {
  const Model model = OpenModel("toy:joint,length=4,vocab=2,seed=7");
  for (const char* planner : {"punt", "punt:fallback=false", "punt:fallback=false,form=parallel", "top-k:k=2",
                              "entropy-bound", "threshold:tau=0.6", "klass", "p2:steps=3"}) {
    const Law whole = LawOf(model, planner, "token-prob");
    const Law merged = LawOf(model, planner, "token-prob", {.remember_commits = false});
    EXPECT_LE(merged.outcomes, whole.outcomes) << planner;
    EXPECT_NEAR(merged.mean_nfe, whole.mean_nfe, 1e-12) << planner;
    ASSERT_EQ(merged.probabilities.size(), whole.probabilities.size()) << planner;
    for (const auto& [tokens, probability] : whole.probabilities) {
      EXPECT_NEAR(merged.probabilities.at(tokens), probability, 1e-14) << planner;
    }
  }
}

TEST(Law, MeanErrorIsTheDivergenceFromTheJointWhenTheChoiceIsBlind) {
  // The chain rule: if positions are chosen without looking at values, the errors in the direction KL(q || p)
  // add up to KL(law || joint) exactly.
  const Model model = OpenModel("toy:joint,length=5,vocab=2,seed=8");
  for (const char* planner : {"random:k=2", "halton:steps=3", "dilated:log_window=3,skip_threshold=0", "top-k:k=5",
                              "timestep:steps=3,origin=true"}) {
    const Law law = LawOf(model, planner, "position", {.measure_error = true});
    EXPECT_GT(law.mean_error_base_new, 1e-3) << planner;
    EXPECT_NEAR(law.mean_error_base_new, KlFromModel(law, ExactOf(model).model()), 1e-12) << planner;
  }
}

TEST(Law, HonoursTheProposalOptions) {
  const Model model = OpenModel("toy:product,length=3,vocab=4,seed=1");
  const Law nucleus = LawOf(model, "left-to-right", "margin", {.proposal = {.top_k = 2}});
  EXPECT_EQ(nucleus.probabilities.size(), 8u);
  const Law hot = LawOf(model, "left-to-right", "margin", {.proposal = {.temperature = 1e6}});
  for (const auto& [tokens, probability] : hot.probabilities) EXPECT_NEAR(probability, 1.0 / 64, 1e-5);
}

TEST(Law, KeepsThePromptAndWindows) {
  const Model model = OpenModel("toy:markov,length=5,vocab=2,seed=2");
  const DenoiserInfo& info = model.denoiser->info();
  const Canvas canvas({2, 1, 2, 2, 0}, info.mask_token, info.vocab_size);
  Recipe recipe = MakeRecipe("top-k:k=2", "margin", {}, info);
  recipe.window = 1;
  const Law law = EnumerateLaw(*model.denoiser, canvas, recipe);
  EXPECT_EQ(law.probabilities.size(), 8u);
  EXPECT_DOUBLE_EQ(law.mean_steps, 3);
  for (const auto& [tokens, probability] : law.probabilities) {
    EXPECT_EQ(tokens[1], 1);
    EXPECT_EQ(tokens[4], 0);
  }
}

TEST(Law, TotalVariationAndDivergenceByHand) {
  const Model model = OpenModel("toy:joint,length=1,vocab=2,seed=1");
  const ExactModel& exact = ExactOf(model).model();
  const double p = exact.Probability(std::vector<Token>{0});
  Law law;
  law.probabilities = {{{0}, 0.25}, {{1}, 0.75}};
  EXPECT_NEAR(TotalVariation(law, exact), std::fabs(p - 0.25), 1e-15);
  EXPECT_NEAR(KlFromModel(law, exact), 0.25 * std::log(0.25 / p) + 0.75 * std::log(0.75 / (1 - p)), 1e-15);
  law.probabilities = {{{0}, 1}};
  EXPECT_NEAR(TotalVariation(law, exact), 1 - p, 1e-15);
}

TEST(Law, RefusesWhatIsNotALawOverFullCanvases) {
  const Model model = OpenModel("toy:markov,length=4,vocab=2,seed=2");
  const DenoiserInfo& info = model.denoiser->info();
  Recipe recipe = MakeRecipe("left-to-right", "margin", {}, info);
  EXPECT_THROW(EnumerateLaw(*model.denoiser, Masked(info), recipe, {.max_outcomes = 10}), Error);
  recipe.max_steps = 2;
  EXPECT_THROW(EnumerateLaw(*model.denoiser, Masked(info), recipe), Error);
  const Model ends = OpenModel("toy:markov,length=4,vocab=2,seed=2,eos=1");
  EXPECT_THROW(LawOf(ends, "left-to-right"), Error);
}

}  // namespace
}  // namespace punt
