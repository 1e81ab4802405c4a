// Generation under a constraint: that it holds for every planner, and what law it gives.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>

#include "base/error_testing.h"
#include "constrain/constrain_testing.h"
#include "constrain/constrained_session.h"
#include "denoise/exact_model.h"
#include "punt/generator.h"
#include "punt/model.h"
#include "punt/sampling.h"

namespace punt {
namespace {

/// Follows the canvas of a run and counts the steps after which it has no completion.
class Watcher : public Observer {
 public:
  Watcher(const Constraint& constraint, std::vector<Token> canvas, Token mask)
      : constraint_(constraint), canvas_(std::move(canvas)), mask_(mask) {}

  void On(const TraceEvent& event) override {
    const auto* commit = std::get_if<CommitEvent>(&event);
    if (commit == nullptr) return;
    for (Position position : commit->remasked) canvas_[static_cast<std::size_t>(position)] = mask_;
    for (std::size_t i = 0; i < commit->positions.size(); ++i) {
      canvas_[static_cast<std::size_t>(commit->positions[i])] = commit->tokens[i];
    }
    ++steps;
    violations += !HasCompletion(constraint_, canvas_, mask_);
  }

  std::int64_t steps = 0;
  std::int64_t violations = 0;

 private:
  const Constraint& constraint_;
  std::vector<Token> canvas_;
  Token mask_;
};

/// A random question: a language, a canvas with a stretch of it that has a completion, some of it given.
struct Round {
  Constraint constraint;
  std::vector<Token> canvas;
};

std::optional<Round> DrawRound(const DenoiserInfo& info, Token end, RandomStream& random) {
  Round round;
  try {
    round.constraint.automaton = AutomatonOf(RandomRegex(random, 4), LetterTexts(info.vocab_size - 1, end));
  } catch (const Error&) {
    return std::nullopt;
  }
  const auto length = static_cast<Position>(info.max_length);
  round.constraint.begin = static_cast<Position>(random.Below(3));
  round.constraint.end = length - static_cast<Position>(random.Below(3));
  round.canvas.assign(static_cast<std::size_t>(length), info.mask_token);
  const auto masks = static_cast<std::uint64_t>(info.mask_token);
  for (Position i = 0; i < length; ++i) {
    Token& token = round.canvas[static_cast<std::size_t>(i)];
    const bool is_outside = i < round.constraint.begin || i >= round.constraint.end;
    // An end outside the stretch would end the run.
    const bool is_given = is_outside ? end >= 0 || random.Below(2) == 0 : random.Below(6) == 0;
    if (!is_given) continue;
    token = static_cast<Token>(random.Below(is_outside && end >= 0 ? masks - 1 : masks));
    if (!HasCompletion(round.constraint, round.canvas, info.mask_token)) token = info.mask_token;
  }
  if (!HasCompletion(round.constraint, round.canvas, info.mask_token)) return std::nullopt;
  return round;
}

constexpr const char* kToys[] = {
    "toy:joint,length=6,vocab=4,seed=1", "toy:markov,length=12,vocab=4,seed=2,permute=true",
    "toy:markov,length=9,vocab=4,seed=3,coupling=1,eos=3", "toy:product,length=16,vocab=4,seed=4,eos=3"};

/// As many runs as it takes for that many steps, over all planners, settings and languages in turn.
void RunUntil(std::int64_t wanted) {
  RandomStream random(2026);
  std::vector<Model> models;
  for (const char* toy : kToys) models.push_back(OpenModel(toy));
  std::map<std::string, std::int64_t> steps_of;
  std::int64_t steps = 0, finished = 0;
  while (steps < wanted) {
    for (const PlannerRow& row : Planners()) {
      const Model& model = models[random.Below(models.size())];
      const DenoiserInfo& info = model.denoiser->info();
      if (row.needs_network) continue;
      const Token end = info.eos_tokens.empty() ? -1 : info.eos_tokens.front();
      const auto round = DrawRound(info, end, random);
      if (!round) continue;
      const ProposalOptions proposal{.convention = random.Below(2) == 0 ? Convention::kLlada : Convention::kDream,
                                     .temperature = random.Below(4) == 0   ? 0
                                                    : random.Below(2) == 0 ? 1
                                                                           : 0.6,
                                     .top_p = random.Below(4) == 0 ? 0.7 : 1,
                                     .top_k = random.Below(4) == 0 ? 2 : 0};
      Recipe recipe = MakeRecipe(row.name, random.Below(2) == 0 ? "" : "neg-entropy", proposal, info);
      recipe.seed = random.Next();
      recipe.eos = static_cast<EosPolicy>(random.Below(2) == 0 ? 0 : random.Below(2) == 0 ? 1 : 3);
      recipe.window = random.Below(2) == 0 ? 0 : static_cast<int>(1 + random.Below(3));
      if (random.Below(3) == 0) recipe.cache = ParseCachePolicy("settled:refresh=2");
      recipe.max_steps = 400;
      recipe.constraint = round->constraint;
      const Canvas canvas(round->canvas, info.mask_token, info.vocab_size);
      if (recipe.window > static_cast<int>(canvas.generated().size())) recipe.window = 0;
      Watcher watcher(recipe.constraint, round->canvas, info.mask_token);
      const auto session = model.denoiser->NewSession({});
      const GenerateResult result = Generate(*session, canvas, recipe, {.observer = &watcher});
      ASSERT_EQ(watcher.violations, 0) << row.name << ", seed " << recipe.seed;
      ASSERT_TRUE(HasCompletion(recipe.constraint, result.tokens, info.mask_token)) << row.name;
      finished += result.stop == StopReason::kFull || result.stop == StopReason::kEos;
      steps_of[std::string(row.name)] += watcher.steps;
      steps += watcher.steps;
    }
  }
  EXPECT_GT(finished, 0);
  for (const PlannerRow& row : Planners()) {
    if (row.needs_network) continue;
    EXPECT_GT(steps_of[std::string(row.name)], 0) << row.name;
  }
}

TEST(ConstrainedGeneration, EveryPartialCanvasOfEveryPlannerHasACompletion) { RunUntil(20'000); }

// PUNT_CONSTRAIN_STEPS=1000000
TEST(ConstrainedGeneration, TheSameForAsManySteps) {
  const char* steps = std::getenv("PUNT_CONSTRAIN_STEPS");
  if (steps == nullptr) GTEST_SKIP() << "PUNT_CONSTRAIN_STEPS is not set: how many steps to take";
  RunUntil(std::atoll(steps));
}

using Law = std::map<std::vector<Token>, double>;

/// The law of filling a canvas one position at a time, in the order that `choose` gives.
Law OneByOne(DenoiserSession& session, std::vector<Token> canvas,
             const std::function<Position(std::span<const Token>)>& choose) {
  Law law;
  const auto vocab = static_cast<std::size_t>(session.info().vocab_size);
  const std::function<void(double)> go = [&](double weight) {
    const Position position = choose(canvas);
    if (position < 0) {
      law[canvas] += weight;
      return;
    }
    const Query query{.canvas = canvas, .rows = {&position, 1}};
    const PassRef pass = session.Forward({&query, 1}).front();
    std::vector<double> row(vocab);
    const LogProbRequest request{.pass = pass.get(), .rows = {&position, 1}, .out = row};
    session.LogProbs({&request, 1});
    const Token mask = canvas[static_cast<std::size_t>(position)];
    for (std::size_t v = 0; v < vocab; ++v) {
      if (row[v] < -5000) continue;
      canvas[static_cast<std::size_t>(position)] = static_cast<Token>(v);
      go(weight * std::exp(row[v]));
    }
    canvas[static_cast<std::size_t>(position)] = mask;
  };
  go(1);
  return law;
}

Law ConditionedJoint(const Model& model, const TokenAutomaton& automaton) {
  const ExactModel& exact = dynamic_cast<const ExactDenoiser&>(*model.denoiser).model();
  Law law;
  double total = 0;
  std::vector<Token> string(static_cast<std::size_t>(exact.length()));
  const std::function<void(std::size_t, std::size_t)> go = [&](std::size_t i, std::size_t state) {
    if (i == string.size()) {
      if (automaton.accepts(state)) total += law[string] = exact.Probability(string);
      return;
    }
    for (string[i] = 0; string[i] < exact.states(); ++string[i]) {
      const std::int32_t to = automaton.Next(state, string[i]);
      if (to >= 0) go(i + 1, static_cast<std::size_t>(to));
    }
  };
  go(0, 0);
  for (auto& [tokens, probability] : law) probability /= total;
  return law;
}

double Distance(const Law& a, const Law& b) {
  double sum = 0;
  for (const auto& [tokens, probability] : a) sum += std::abs(probability - (b.contains(tokens) ? b.at(tokens) : 0));
  for (const auto& [tokens, probability] : b) sum += a.contains(tokens) ? 0 : probability;
  return sum / 2;
}

Position LeftToRight(std::span<const Token> canvas) {
  for (std::size_t i = 0; i < canvas.size(); ++i) {
    if (canvas[i] == 3) return static_cast<Position>(i);
  }
  return -1;
}

/// An order that depends on the values.
Position Adaptive(std::span<const Token> canvas) {
  Position last = -1;
  std::size_t sum = 0;
  for (std::size_t i = 0; i < canvas.size(); ++i) sum += static_cast<std::size_t>(canvas[i]) * (i + 1);
  for (std::size_t k = 0; k < canvas.size(); ++k) {
    const std::size_t i = (sum + k) % canvas.size();
    if (canvas[i] == 3) last = static_cast<Position>(i);
  }
  return last;
}

constexpr const char* kLanguages[] = {"(?:ab|c)*[abc]?", "a*b*c*", "[abc]{5}a", "(?:a[bc]*a|b.*c)[abc]"};

double DistanceFor(const char* toy, const char* language, Position (*choose)(std::span<const Token>)) {
  const Model model = OpenModel(toy);
  const DenoiserInfo& info = model.denoiser->info();
  const auto automaton = AutomatonOf(language, LetterTexts(info.vocab_size - 1));
  const auto inner = model.denoiser->NewSession({});
  const auto session = NewConstrainedSession(*inner, {automaton, 0, static_cast<Position>(info.max_length)});
  const std::vector<Token> masked(static_cast<std::size_t>(info.max_length), info.mask_token);
  return Distance(OneByOne(*session, masked, choose), ConditionedJoint(model, *automaton));
}

TEST(ConstrainedGeneration, OneByOneIsTheJointConditionedOnTheLanguage) {
  for (const char* language : kLanguages) {
    for (const char* toy :
         {"toy:product,length=6,vocab=3,seed=1", "toy:product,length=6,vocab=3,seed=2,concentration=0.2"}) {
      EXPECT_LT(DistanceFor(toy, language, LeftToRight), 1e-9) << language;
      EXPECT_LT(DistanceFor(toy, language, Adaptive), 1e-9) << language;
    }
  }
}

// What a row says of the language takes the other masks as independent: exact where they are, and else only as exact
// as the rows of one pass are.
TEST(ConstrainedGeneration, WherePositionsDependOnEachOtherItIsNot) {
  EXPECT_GT(DistanceFor("toy:joint,length=6,vocab=3,seed=1", "(?:ab|c)*[abc]?", LeftToRight), 1e-3);
}

TEST(ConstrainedGeneration, BatchesGiveTheSameTexts) {
  const Model model = OpenModel(kToys[1]);
  const DenoiserInfo& info = model.denoiser->info();
  Recipe recipe = MakeRecipe("punt", "", {}, info);
  recipe.constraint = {AutomatonOf("(?:ab|c[abd]d)*", LetterTexts(4)), 0, 12};
  const Canvas canvas(std::vector<Token>(12, info.mask_token), info.mask_token, info.vocab_size);
  const std::vector<Canvas> canvases(5, canvas);
  const std::vector<GenerateResult> together = GenerateBatch(*model.denoiser, {}, canvases, recipe);
  const auto session = model.denoiser->NewSession({});
  for (std::size_t i = 0; i < canvases.size(); ++i) {
    recipe.sample = i;
    const GenerateResult alone = Generate(*session, canvas, recipe);
    EXPECT_EQ(alone.tokens, together[i].tokens);
    EXPECT_EQ(alone.counters.nfe(), together[i].counters.nfe());
  }
}

TEST(ConstrainedGeneration, WhatCannotBeKeptIsRefusedBeforeTheFirstPass) {
  const Model model = OpenModel(kToys[0]);
  const DenoiserInfo& info = model.denoiser->info();
  Recipe recipe = MakeRecipe("top-k", "", {}, info);
  recipe.constraint = {AutomatonOf("abcabcabc", LetterTexts(4)), 0, 6};
  const Canvas canvas(std::vector<Token>(6, info.mask_token), info.mask_token, info.vocab_size);
  const auto session = model.denoiser->NewSession({});
  EXPECT_EQ(ErrorOf([&] { Generate(*session, canvas, recipe); }), "the constraint allows no text on this canvas");
  EXPECT_EQ(session->counters().nfe(), 0);
  Recipe unset = MakeRecipe(Sampling{.regex = "a+"}, info);
  EXPECT_NE(ErrorOf([&] { Generate(*session, canvas, unset); }).find("a constraint is for answers"), std::string::npos);
}

}  // namespace
}  // namespace punt
