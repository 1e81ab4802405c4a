// What each cache policy asks of the denoiser, seen by a session that writes queries down; exact models ignore caches,
// so results do not depend on them here. What networks make of it: denoise/neural_cache_test.cc.
#include "punt/cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

#include "generate/forwarding_session_testing.h"
#include "punt/error.h"
#include "punt/generator.h"
#include "punt/model.h"

namespace punt {
namespace {

struct Asked {
  PassKind kind;
  std::vector<Token> canvas;
  std::set<Position> rows;
  std::set<Position> stale;
  bool keeps = false;
  const Pass* states = nullptr;
  const Pass* answer = nullptr;
};

/// Writes down what is asked of a session of an exact model.
class Spy : public ForwardingSession {
 public:
  explicit Spy(const Denoiser& denoiser) : ForwardingSession(denoiser.NewSession({})) {}

  std::vector<Asked> asked;

 protected:
  std::vector<PassRef> DoForward(std::span<const Query> queries) override {
    std::vector<PassRef> passes = ForwardingSession::DoForward(queries);
    for (std::size_t i = 0; i < queries.size(); ++i) {
      const Query& query = queries[i];
      asked.push_back({.kind = query.kind,
                       .canvas = {query.canvas.begin(), query.canvas.end()},
                       .rows = {query.rows.begin(), query.rows.end()},
                       .stale = {query.stale.begin(), query.stale.end()},
                       .keeps = query.keep_states,
                       .states = query.states,
                       .answer = passes[i].get()});
      kept_.push_back(passes[i]);  // so that addresses stay apart
    }
    return passes;
  }

 private:
  std::vector<PassRef> kept_;
};

constexpr int kPrompt = 4;
constexpr int kLength = 32;

struct CachedRun {
  explicit CachedRun(std::string_view cache, std::string_view planner = "punt:fallback=false", int window = 0)
      : model(OpenModel("toy:markov,length=32,vocab=6,seed=3,coupling=0.8")), spy(*model.denoiser) {
    const DenoiserInfo& info = model.denoiser->info();
    std::vector<Token> tokens(kLength, info.mask_token);
    std::fill_n(tokens.begin(), kPrompt, 1);
    Recipe recipe = MakeRecipe(planner, "", {}, info);
    recipe.cache = ParseCachePolicy(cache);
    recipe.window = window;
    result = Generate(spy, Canvas(tokens, info.mask_token, info.vocab_size), recipe);
  }

  std::vector<Asked> Of(PassKind kind) const {
    std::vector<Asked> some;
    std::copy_if(spy.asked.begin(), spy.asked.end(), std::back_inserter(some),
                 [&](const Asked& each) { return each.kind == kind; });
    return some;
  }
  bool IsMask(Token token) const { return token == model.denoiser->info().mask_token; }
  std::set<Position> Filled(const std::vector<Token>& canvas) const {
    std::set<Position> filled;
    for (std::size_t at = 0; at < canvas.size(); ++at) {
      if (!IsMask(canvas[at])) filled.insert(static_cast<Position>(at));
    }
    return filled;
  }

  Model model;
  Spy spy;
  GenerateResult result;
};

std::set<Position> Range(Position begin, Position end) {
  std::set<Position> all;
  for (Position i = begin; i < end; ++i) all.insert(all.end(), i);
  return all;
}

TEST(Cache, SpecsAreParsedAndNamed) {
  EXPECT_EQ(ParseCachePolicy("none"), CachePolicy{});
  EXPECT_EQ(Name(ParseCachePolicy("step")), "step:tests=masked");
  EXPECT_EQ(Name(ParseCachePolicy("settled")), "settled:refresh=8,tests=masked");
  EXPECT_EQ(Name(ParseCachePolicy("settled:tests=read,refresh=3")), "settled:refresh=3,tests=read");
  EXPECT_EQ(Name(ParseCachePolicy("dual")), "dual:refresh=0,tests=masked");
  for (const CacheRow& row : CacheRows()) {
    const std::string name = Name(ParseCachePolicy(row.name));
    EXPECT_EQ(Name(ParseCachePolicy(name)), name);
    EXPECT_EQ(name.substr(0, row.name.size()), row.name);
  }
  for (const char* bad : {"", "steps", "step:refresh=2", "settled:refresh=0", "settled:every=2", "dual:refresh=-1"}) {
    EXPECT_THROW(ParseCachePolicy(bad), Error) << bad;
  }
}

TEST(Cache, ExactModelsDoNotNotice) {
  for (const char* planner : {"punt:fallback=false", "punt:fallback=false,form=parallel", "top-k:k=2", "info-gain"}) {
    const CachedRun plain("none", planner, 7);
    for (const char* cache : {"step", "step:tests=read", "settled:refresh=2", "prefix", "dual:tests=read"}) {
      EXPECT_EQ(CachedRun(cache, planner, 7).result.tokens, plain.result.tokens) << cache << " " << planner;
    }
  }
}

TEST(Cache, NoneKeepsNothing) {
  for (const Asked& each : CachedRun("none").spy.asked) {
    EXPECT_FALSE(each.keeps);
    EXPECT_EQ(each.states, nullptr);
    EXPECT_TRUE(each.stale.empty());
  }
}

class StepCache : public testing::TestWithParam<bool> {};

TEST_P(StepCache, ReusesTheBaseOfTheStep) {
  const bool all_masks = GetParam();
  const CachedRun run(all_masks ? "step:tests=masked" : "step:tests=read");
  const Pass* base = nullptr;
  std::set<Position> filled;
  for (const Asked& each : run.spy.asked) {
    if (each.kind == PassKind::kBase) {
      EXPECT_TRUE(each.keeps);
      EXPECT_TRUE(each.stale.empty());
      base = each.answer;
      filled = run.Filled(each.canvas);
    } else {
      EXPECT_FALSE(each.keeps);
      EXPECT_EQ(each.states, base);
      EXPECT_EQ(each.stale, all_masks ? filled : Range(0, kLength));
    }
  }
  // A test pass saw stale positions: it never stands in for a base pass.
  EXPECT_EQ(run.result.counters.base_passes, run.result.steps);
  EXPECT_GT(run.result.counters.test_passes, 0);
}

INSTANTIATE_TEST_SUITE_P(Cache, StepCache, testing::Bool());

TEST(Cache, TestPassesCanBeAskedForTestedRowsAlone) {
  const CachedRun plain("none");
  const CachedRun run("step:tests=read");
  const std::vector<Asked> tests = run.Of(PassKind::kTest);
  for (const Asked& each : tests) {
    for (Position row : each.rows) EXPECT_TRUE(run.IsMask(each.canvas[static_cast<std::size_t>(row)]));
  }
  // The last round of the first step tests few; without a cache it gives all that is masked, as a spare base.
  EXPECT_LT(tests.at(3).rows.size(), plain.Of(PassKind::kTest).at(3).rows.size());
}

TEST(Cache, SettledComputesMasksAndRefreshes) {
  const CachedRun run("settled:refresh=3", "top-k:k=2");
  const std::vector<Asked> bases = run.Of(PassKind::kBase);
  ASSERT_EQ(bases.size(), 14U);
  for (std::size_t i = 0; i < bases.size(); ++i) {
    EXPECT_TRUE(bases[i].keeps);
    EXPECT_EQ(bases[i].states, i == 0 ? nullptr : bases[i - 1].answer);
    EXPECT_EQ(bases[i].stale, i % 3 == 0 ? std::set<Position>{} : run.Filled(bases[i].canvas)) << "step " << i;
  }
}

TEST(Cache, PrefixAndDualFollowTheWindow) {
  for (const bool is_dual : {false, true}) {
    const CachedRun run(is_dual ? "dual" : "prefix", "top-k:k=1", 7);
    const std::vector<Asked> bases = run.Of(PassKind::kBase);
    ASSERT_EQ(bases.size(), 28U);
    for (std::size_t i = 0; i < bases.size(); ++i) {
      const auto begin = static_cast<Position>(kPrompt + i / 7 * 7);
      std::set<Position> stale;
      if (i % 7 != 0) {
        stale = Range(0, begin);
        if (is_dual) stale.merge(Range(begin + 7, kLength));
      }
      EXPECT_EQ(bases[i].stale, stale) << "step " << i;
    }
  }
}

TEST(Cache, AFreeBaseServesUntilARefreshIsDue) {
  // With epsilon 0 one token is committed a step, and a test that revealed it alone has been run.
  const CachedRun often("settled:refresh=1", "punt:fallback=false,epsilon=0");
  EXPECT_EQ(often.result.counters.base_passes, often.result.steps);
}

}  // namespace
}  // namespace punt
