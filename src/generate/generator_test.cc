// The loop on exact toy models: windows, holes, end of sequence, limits, cancellation, the free base pass.
#include "punt/generator.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "generate/eos_anneal.h"
#include "punt/error.h"
#include "punt/model.h"

namespace punt {
namespace {

class Recorder : public Observer {
 public:
  void On(const TraceEvent& event) override {
    events.push_back(event);
    if (cancel_after_commits > 0 && std::holds_alternative<CommitEvent>(event) && --cancel_after_commits == 0)
      cancel = true;
  }

  template <typename Event>
  std::vector<Event> All() const {
    std::vector<Event> matching;
    for (const TraceEvent& event : events) {
      if (const Event* match = std::get_if<Event>(&event)) matching.push_back(*match);
    }
    return matching;
  }

  std::vector<TraceEvent> events;
  int cancel_after_commits = 0;
  std::atomic<bool> cancel = false;
};

struct ToyRun {
  explicit ToyRun(std::string_view model_name) : model(OpenModel(model_name)) {}

  Canvas Masked(int length) const {
    const DenoiserInfo& info = model.denoiser->info();
    return {std::vector<Token>(static_cast<std::size_t>(length), info.mask_token), info.mask_token, info.vocab_size};
  }

  GenerateResult Go(const Canvas& canvas, Recipe recipe) {
    const auto session =
        model.denoiser->NewSession({.banned_tokens = BannedTokens(recipe.eos, model.denoiser->info())});
    return Generate(*session, canvas, recipe, {.observer = &recorder, .cancel = &recorder.cancel});
  }

  Recipe Make(std::string_view planner, std::uint64_t seed = 0) const {
    Recipe recipe = MakeRecipe(planner, "", {}, model.denoiser->info());
    recipe.seed = seed;
    return recipe;
  }

  Model model;
  Recorder recorder;
};

bool HasMask(const GenerateResult& result, Token mask) {
  return std::find(result.tokens.begin(), result.tokens.end(), mask) != result.tokens.end();
}

TEST(Generator, FillsTheCanvasAndCountsEveryPass) {
  ToyRun run("toy:markov,length=24,vocab=5,seed=3,permute=true");
  const GenerateResult result = run.Go(run.Masked(24), run.Make("punt", 9));
  EXPECT_EQ(result.stop, StopReason::kFull);
  EXPECT_FALSE(HasMask(result, 5));
  EXPECT_EQ(result.committed, 24);
  int free = 0;
  for (const StepEvent& step : run.recorder.All<StepEvent>()) free += step.base_was_free;
  EXPECT_EQ(result.counters.base_passes, result.steps - free);
  EXPECT_EQ(result.counters.test_passes, static_cast<std::int64_t>(run.recorder.All<RoundEvent>().size()));
  EXPECT_EQ(result.counters.row_passes, 24 * result.counters.nfe());
  EXPECT_DOUBLE_EQ(result.tokens_per_forward(), 24.0 / static_cast<double>(result.counters.nfe()));
}

TEST(Generator, ProductModelIsDoneInOneStep) {
  for (const char* form : {"iterative", "recursive", "parallel"}) {
    ToyRun run("toy:product,length=40,vocab=6,seed=3");
    const GenerateResult result =
        run.Go(run.Masked(40), run.Make(std::string("punt:fallback=false,epsilon=1e-10,form=") + form));
    EXPECT_EQ(result.steps, 1) << form;
  }
}

TEST(Generator, CommitsInOrderOfWindows) {
  ToyRun run("toy:markov,length=20,vocab=5,seed=1");
  Recipe recipe = run.Make("punt");
  recipe.window = 6;
  run.Go(run.Masked(20), recipe);
  int window = 0;
  std::vector<int> left = {6, 6, 6, 2};
  for (const CommitEvent& commit : run.recorder.All<CommitEvent>()) {
    for (Position position : commit.positions) {
      EXPECT_EQ(position / 6, window);
      --left[static_cast<std::size_t>(window)];
    }
    if (left[static_cast<std::size_t>(window)] == 0) ++window;
  }
  EXPECT_EQ(window, 4);
}

TEST(Generator, FillsHolesAnywhereAndLeavesThePromptAlone) {
  ToyRun run("toy:markov,length=12,vocab=5,seed=1");
  std::vector<Token> tokens = {5, 1, 2, 5, 5, 0, 5, 3, 3, 3, 5, 1};
  const GenerateResult result = run.Go(Canvas(tokens, 5, 6), run.Make("top-k:k=2"));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] != 5) {
      EXPECT_EQ(result.tokens[i], tokens[i]);
    }
    EXPECT_NE(result.tokens[i], 5);
  }
  EXPECT_EQ(result.committed, 5);
}

TEST(Generator, NothingToGenerateCostsNothing) {
  ToyRun run("toy:markov,length=4,vocab=5,seed=1");
  const GenerateResult result = run.Go(Canvas({0, 1, 2, 3}, 5, 6), run.Make("punt"));
  EXPECT_EQ(result.stop, StopReason::kFull);
  EXPECT_EQ(result.steps, 0);
  EXPECT_EQ(result.counters.nfe(), 0);
  EXPECT_EQ(result.tokens, (std::vector<Token>{0, 1, 2, 3}));
}

TEST(Generator, StopsAtAnEosWithEverythingBeforeItCommitted) {
  int stopped = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    ToyRun run("toy:product,length=16,vocab=4,seed=2,eos=1");
    const GenerateResult result = run.Go(run.Masked(16), run.Make("left-to-right", seed));
    const auto eos = std::find(result.tokens.begin(), result.tokens.end(), 1);
    if (result.stop != StopReason::kEos) {
      EXPECT_TRUE(eos == result.tokens.end() || eos == result.tokens.end() - 1);
      continue;
    }
    ++stopped;
    EXPECT_EQ(result.committed, eos - result.tokens.begin() + 1);
    EXPECT_TRUE(std::all_of(eos, result.tokens.end(), [](Token token) { return token == 1; }));
  }
  EXPECT_GT(stopped, 10);
}

TEST(Generator, DoesNotStopAtAnEosInFrontOfAPrompt) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    ToyRun run("toy:product,length=16,vocab=2,seed=2,eos=1");
    std::vector<Token> tokens(16, 2);
    tokens.back() = 0;
    const GenerateResult result = run.Go(Canvas(tokens, 2, 3), run.Make("left-to-right", seed));
    EXPECT_EQ(result.stop, StopReason::kFull);
    EXPECT_EQ(result.committed, 15);
  }
}

TEST(Generator, EosPolicies) {
  bool eos_with_none = false;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (EosPolicy policy : {EosPolicy::kNone, EosPolicy::kDeprioritise, EosPolicy::kForbid}) {
      ToyRun run("toy:product,length=16,vocab=4,seed=2,eos=1");
      Recipe recipe = run.Make("top-k:k=3", seed);
      recipe.eos = policy;
      const GenerateResult result = run.Go(run.Masked(16), recipe);
      const bool has_eos = std::count(result.tokens.begin(), result.tokens.end(), 1) > 0;
      if (policy == EosPolicy::kNone) eos_with_none |= has_eos;
      EXPECT_FALSE(policy == EosPolicy::kForbid && has_eos);
      if (policy != EosPolicy::kDeprioritise) continue;
      // Within a step no EOS is ranked before anything else.
      for (const StepEvent& step : run.recorder.All<StepEvent>()) {
        const auto first = std::find(step.tokens.begin(), step.tokens.end(), 1);
        EXPECT_TRUE(std::all_of(first, step.tokens.end(), [](Token token) { return token == 1; }));
      }
    }
  }
  EXPECT_TRUE(eos_with_none);
}

// Which tokens are proposed stays; where they are EOS, confidence is less, by less and less.
TEST(Generator, AnnealingLowersTheConfidenceOfEos) {
  int lowered = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    std::vector<std::vector<StepEvent>> steps;
    for (EosPolicy policy : {EosPolicy::kNone, EosPolicy::kAnneal}) {
      ToyRun run("toy:product,length=16,vocab=4,seed=2,eos=1");
      Recipe recipe = run.Make("left-to-right", seed);
      recipe.score = MakeScore("token-prob");
      recipe.eos = policy;
      run.Go(run.Masked(16), recipe);
      steps.push_back(run.recorder.All<StepEvent>());
    }
    ASSERT_EQ(steps[0].size(), steps[1].size());
    for (std::size_t i = 0; i < steps[0].size(); ++i) {
      const StepEvent& plain = steps[0][i];
      const StepEvent& annealed = steps[1][i];
      const double divisor = EosDivisor(1 - static_cast<double>(plain.positions.size()) / 16);
      for (std::size_t j = 0; j < plain.positions.size(); ++j) {
        const auto found = std::find(annealed.positions.begin(), annealed.positions.end(), plain.positions[j]);
        ASSERT_NE(found, annealed.positions.end());
        const auto place = static_cast<std::size_t>(found - annealed.positions.begin());
        EXPECT_EQ(annealed.tokens[place], plain.tokens[j]);
        Proposal proposal{.token_prob = plain.confidence[j]};
        if (plain.tokens[j] == 1) proposal = WithEosDivided(proposal, divisor, 4);
        EXPECT_DOUBLE_EQ(annealed.confidence[place], proposal.token_prob);
        lowered += annealed.confidence[place] < plain.confidence[j] ? 1 : 0;
      }
    }
  }
  EXPECT_GT(lowered, 20);
}

TEST(Generator, LimitsAreNeverExceeded) {
  for (std::int64_t limit = 1; limit <= 12; ++limit) {
    ToyRun run("toy:markov,length=32,vocab=5,seed=1,permute=true");
    Recipe recipe = run.Make("punt");
    recipe.max_nfe = limit;
    const GenerateResult result = run.Go(run.Masked(32), recipe);
    EXPECT_LE(result.counters.nfe(), limit);
    EXPECT_EQ(result.stop, StopReason::kNfeLimit);
    EXPECT_TRUE(HasMask(result, 5));
  }
  ToyRun run("toy:markov,length=32,vocab=5,seed=1,permute=true");
  Recipe recipe = run.Make("left-to-right");
  recipe.max_steps = 5;
  const GenerateResult result = run.Go(run.Masked(32), recipe);
  EXPECT_EQ(result.stop, StopReason::kStepLimit);
  EXPECT_EQ(result.steps, 5);
  EXPECT_EQ(result.committed, 5);
}

TEST(Generator, CancellationKeepsWhatIsCommitted) {
  ToyRun run("toy:markov,length=32,vocab=5,seed=1,permute=true");
  run.recorder.cancel_after_commits = 3;
  const GenerateResult result = run.Go(run.Masked(32), run.Make("left-to-right"));
  EXPECT_EQ(result.stop, StopReason::kCancelled);
  EXPECT_EQ(result.steps, 3);
  EXPECT_EQ(result.committed, 3);
  ASSERT_TRUE(std::holds_alternative<EndEvent>(run.recorder.events.back()));
}

TEST(Generator, FreeBasePassChangesNoResultAndLowersNfe) {
  std::int64_t with = 0, without = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (const char* window : {"0", "8"}) {
      ToyRun free("toy:mixture,length=24,vocab=6,seed=4,components=5");
      ToyRun paid("toy:mixture,length=24,vocab=6,seed=4,components=5");
      Recipe recipe = free.Make("punt:fallback=false,epsilon=0.02", seed);
      recipe.window = std::stoi(window);
      const GenerateResult a = free.Go(free.Masked(24), recipe);
      recipe.planner = MakePlanner("punt:fallback=false,epsilon=0.02,free_base=false");
      const GenerateResult b = paid.Go(paid.Masked(24), recipe);
      EXPECT_EQ(a.tokens, b.tokens);
      EXPECT_EQ(a.steps, b.steps);
      EXPECT_EQ(a.counters.test_passes, b.counters.test_passes);
      EXPECT_LE(a.counters.base_passes, b.counters.base_passes);
      with += a.counters.base_passes;
      without += b.counters.base_passes;
    }
  }
  EXPECT_LT(with, without);
}

TEST(Generator, AStepThatChangesNothingIsFree) {
  ToyRun run("toy:markov,length=4,vocab=5,seed=1");
  const GenerateResult result = run.Go(run.Masked(4), run.Make("timestep:steps=64"));
  EXPECT_EQ(result.stop, StopReason::kFull);
  EXPECT_GT(result.steps, 8);
  EXPECT_LE(result.counters.nfe(), 5);
}

TEST(Generator, RefusesWhatDoesNotFit) {
  ToyRun run("toy:markov,length=8,vocab=5,seed=1");
  Recipe recipe = run.Make("punt");
  recipe.window = 9;
  EXPECT_THROW(run.Go(run.Masked(8), recipe), Error);
  recipe.window = -1;
  EXPECT_THROW(run.Go(run.Masked(8), recipe), Error);
  EXPECT_THROW(run.Go(run.Masked(9), run.Make("punt")), Error);
}

TEST(Generator, RefusesAPlannerWhoseNeedsTheDenoiserCannotMeet) {
  class Needy : public Planner {
    Plan Decide(const StepView&) const override { return {}; }
    PlannerNeeds needs() const override { return {.attention = {{}}}; }
  };
  ToyRun run("toy:markov,length=8,vocab=5,seed=1");
  Recipe recipe = run.Make("punt");
  recipe.planner = std::make_shared<Needy>();
  EXPECT_THROW(run.Go(run.Masked(8), recipe), Error);
}

}  // namespace
}  // namespace punt
