// PUNT with its fallback never takes more passes than there are tokens, on models: exact ones of every length from 8 to
// 512, networks of random weights, and those that come along; alone and inside other planners. pass_debt_test.cc has
// the rule by itself.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "punt/cache.h"
#include "punt/generator.h"
#include "punt/model.h"

namespace punt {
namespace {

struct Settings {
  std::string planner = "punt";
  std::string score;  // empty: the model's
  int window = 0;
  double temperature = 1;
  std::uint64_t seed = 0;
  std::string cache = "none";
};

Counters Passes(const Model& model, int length, const Settings& settings) {
  const DenoiserInfo& info = model.denoiser->info();
  const std::vector<Token> tokens(static_cast<std::size_t>(length), info.mask_token);
  Recipe recipe = MakeRecipe(settings.planner, settings.score, {.temperature = settings.temperature}, info);
  recipe.window = settings.window;
  recipe.seed = settings.seed;
  recipe.cache = ParseCachePolicy(settings.cache);
  const GenerateResult result =
      Generate(*model.denoiser->NewSession({}), Canvas(tokens, info.mask_token, info.vocab_size), recipe);
  EXPECT_TRUE(result.stop == StopReason::kFull || result.stop == StopReason::kEos);
  return result.counters;
}

TEST(PassBound, EveryLengthOfAScatteredChain) {
  for (int length = 8; length <= 512; ++length) {
    const Model model = OpenModel(fmt::format("toy:markov,length={},vocab=4,seed={},permute=true", length, length % 7));
    const Settings settings{.score = length % 2 == 0 ? "margin" : "random", .seed = static_cast<std::uint64_t>(length)};
    ASSERT_LE(Passes(model, length, settings).nfe(), length) << length;
  }
}

TEST(PassBound, EveryExactFamilyWithWindowsFormsAndScores) {
  for (const char* family : {"markov,coupling=0.99", "tree", "mixture,components=4", "product"}) {
    for (const int length : {8, 16, 17, 40, 64, 100}) {
      const Model model = OpenModel(fmt::format("toy:{},length={},vocab=4,seed=3", family, length));
      for (const char* planner : {"punt", "punt:epsilon=0", "punt:form=parallel", "punt:form=recursive"}) {
        for (const int window : {0, 8}) {
          const Settings settings{.planner = planner, .window = window, .seed = 5};
          EXPECT_LE(Passes(model, length, settings).nfe(), length) << family << length << planner << window;
        }
      }
    }
  }
}

// Filtered, before and after others, and all of that inside each other.
const char* const kPlannersAround[] = {
    "spacing",
    "spacing:planner=(punt:epsilon=0,form=parallel),gap=8",
    "hybrid",
    "hybrid:first=(top-k:k=4),then=(punt:epsilon=0),at=0.2",
    "hybrid:first=(punt:epsilon=0),then=(top-k:k=1),at=0.1",
    "hybrid:first=(punt:epsilon=0,form=parallel),then=(spacing:planner=(punt:epsilon=0)),at=0.5",
    "hybrid:first=(spacing:gap=4),then=(left-to-right),at=0.5",
    "spacing:planner=(hybrid:then=(punt:epsilon=0),at=0.3),gap=5",
    "upstream:of=punt",
    "upstream:of=(punt:epsilon=0),beta=0,floor=1",
    "spacing:planner=(upstream:of=punt),gap=24",
    "upstream:of=(spacing:gap=30)",
};

TEST(PassBound, PlannersAroundIt) {
  for (const char* family : {"markov,coupling=0.99", "tree", "mixture,components=4"}) {
    for (const int length : {8, 17, 40, 64, 128, 200}) {
      const Model model = OpenModel(fmt::format("toy:{},length={},vocab=4,seed=3", family, length));
      for (const char* planner : kPlannersAround) {
        for (const int window : {0, 32}) {
          const Settings settings{.planner = planner, .window = length % 32 == 0 ? window : 0, .seed = 5};
          EXPECT_LE(Passes(model, length, settings).nfe(), length) << family << length << planner << window;
        }
      }
    }
  }
}

// Everything influences everything where weights are random, so that tests find little.
TEST(PassBound, NetworksOfRandomWeights) {
  for (const char* name : {"llada", "dream", "esm2", "bert"}) {
    const Model model = OpenModel(fmt::format("{}/tests/golden/{}", PUNT_SOURCE_DIR, name));
    for (const int length : {8, 24, 48}) {
      for (const char* cache : {"none", "step", "settled"}) {
        const Settings settings{.planner = "punt:epsilon=0.001", .seed = 2, .cache = cache};
        const Counters passes = Passes(model, length, settings);
        EXPECT_LE(passes.nfe(), length) << name << length << cache;
      }
    }
  }
}

TEST(PassBound, BundledModels) {
  for (const char* name : {"stories", "sudoku", "membrane"}) {
    const Model model = OpenModel(fmt::format("{}/models/{}.gguf", PUNT_SOURCE_DIR, name));
    for (const int length : {8, 20, 36}) {
      EXPECT_LE(Passes(model, length, {.temperature = 0.7}).nfe(), length) << name << length;
    }
  }
}

}  // namespace
}  // namespace punt
