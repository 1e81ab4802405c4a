// The cache of blocks gives the same bits as whole passes: rows, proposals, confidences, divergences, whole runs; by
// every planner, with prompts that end within a block, windows, seeds, threads, batches, guidance and constraints.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <set>
#include <variant>

#include "denoise/neural_testing.h"
#include "generate/forwarding_session_testing.h"
#include "punt/error.h"
#include "punt/generator.h"
#include "punt/planner.h"

namespace punt {
namespace {

constexpr const char* kFolders[] = {"sdar", "sdar_moe", "llada2_moe", "fast_dllm_v2", "stable_diffcoder"};

/// A model, opened anew: nothing is in its tree.
Model Open(const std::string& folder, const std::string& compute = "auto", std::size_t bytes = kUsualBlockCacheBytes) {
  return OpenModel(GoldenFolder(folder).string(), {.compute = compute, .device = "cpu", .block_cache_bytes = bytes});
}

std::vector<double> RowsOf(DenoiserSession& session, const std::vector<Token>& canvas, std::span<const Position> rows,
                           bool reuses) {
  const Query query{.canvas = canvas, .rows = rows, .reuses_blocks = reuses};
  return DenseRows(session, session.Forward({&query, 1}).front(), rows);
}

std::vector<Position> Between(Position begin, Position end) {
  std::vector<Position> all(static_cast<std::size_t>(end - begin));
  std::iota(all.begin(), all.end(), begin);
  return all;
}

/// Everything that a run reports, in the order in which it did.
class Log : public Observer {
 public:
  void On(const TraceEvent& event) override {
    if (const auto* run = std::get_if<RunEvent>(&event)) window = run->window;
    if (const auto* step = std::get_if<StepEvent>(&event)) {
      Put(step->positions);
      Put(step->tokens);
      Put(step->confidence);
      numbers.push_back(step->base_was_free);
    }
    if (const auto* round = std::get_if<RoundEvent>(&event)) Put(round->round.divergences);
    if (const auto* commit = std::get_if<CommitEvent>(&event)) {
      Put(commit->positions);
      Put(commit->remasked);
      first_step.push_back(commit->positions);
    }
  }

  std::vector<double> numbers;
  std::vector<std::vector<Position>> first_step;
  int window = 0;

 private:
  template <typename T>
  void Put(const std::vector<T>& values) {
    for (const T& value : values) numbers.push_back(static_cast<double>(value));
  }
};

struct Asked {
  std::string planner = "punt";
  std::size_t prompt = 6;
  std::size_t length = 20;
  std::uint64_t seed = 1;
  int window = 0;
  double guidance = 0;
  int threads = 1;
};

struct Told {
  GenerateResult result;
  Log log;
};

std::vector<Token> CanvasFor(const DenoiserInfo& info, const Asked& asked) {
  std::vector<Token> canvas = RandomCanvas(info, asked.prompt + asked.length, 1, 5);
  std::replace(canvas.begin(), canvas.end(), info.mask_token, info.mask_token == 0 ? 1 : 0);
  std::fill(canvas.begin() + static_cast<std::ptrdiff_t>(asked.prompt), canvas.end(), info.mask_token);
  return canvas;
}

Recipe RecipeFor(const DenoiserInfo& info, const Asked& asked, std::string_view cache) {
  Recipe recipe = MakeRecipe(asked.planner, "", {.temperature = 0.8}, info);
  recipe.seed = asked.seed;
  recipe.window = asked.window;
  recipe.cache = CachePolicyFor(cache, info);
  return recipe;
}

Told Generated(const Model& model, const Asked& asked, std::string_view cache) {
  const DenoiserInfo& info = model.denoiser->info();
  SessionOptions options{.guidance = asked.guidance, .threads = asked.threads};
  options.prompt = Between(0, static_cast<Position>(asked.prompt));
  const auto session = model.denoiser->NewSession(options);
  Told told;
  const Canvas canvas(CanvasFor(info, asked), info.mask_token, info.vocab_size);
  told.result = Generate(*session, canvas, RecipeFor(info, asked, cache), {.observer = &told.log});
  return told;
}

void ExpectSame(const Told& plain, const Told& cached, bool may_take_whole_passes) {
  EXPECT_EQ(cached.result.tokens, plain.result.tokens);
  EXPECT_EQ(cached.log.numbers, plain.log.numbers);
  EXPECT_EQ(cached.result.counters.base_passes, plain.result.counters.base_passes);
  EXPECT_EQ(cached.result.counters.test_passes, plain.result.counters.test_passes);
  EXPECT_EQ(cached.result.counters.calls, plain.result.counters.calls);
  EXPECT_EQ(cached.result.counters.rows_read, plain.result.counters.rows_read);
  if (may_take_whole_passes) {
    EXPECT_LE(cached.result.counters.row_passes, plain.result.counters.row_passes);
  } else {
    EXPECT_LT(cached.result.counters.row_passes, plain.result.counters.row_passes);
  }
}

class Blocks : public ::testing::TestWithParam<const char*> {
 protected:
  Blocks() : model_(Open(GetParam())), info_(model_.denoiser->info()), block_(info_.block_size) {}

  Model model_;
  const DenoiserInfo& info_;
  const int block_;
};

TEST_P(Blocks, RowsAreTheSameBits) {
  for (int threads : {1, 2}) {
    const auto session = model_.denoiser->NewSession({.threads = threads});
    const auto plain = model_.denoiser->NewSession({.threads = threads});
    for (std::size_t length : {std::size_t{61}, std::size_t{64}, std::size_t{18}}) {
      const auto end = static_cast<Position>(length);
      for (std::uint64_t seed : {1u, 2u, 1u}) {
        const std::vector<Token> canvas = RandomCanvas(info_, length, 0.6, seed);
        for (Position begin = 0; begin < end; begin += 3) {
          for (const std::vector<Position>& rows :
               {Between(begin, std::min(begin + block_, end)), std::vector<Position>{begin}, Between(begin, end)}) {
            ASSERT_EQ(RowsOf(*session, canvas, rows, true), RowsOf(*plain, canvas, rows, false))
                << length << " " << seed << " " << begin << " " << rows.size();
          }
        }
      }
    }
  }
  EXPECT_GT(model_.denoiser->block_cache().reused_tokens, 0);
}

TEST_P(Blocks, OnlyTheCurrentBlockIsComputed) {
  const auto session = model_.denoiser->NewSession({});
  std::vector<Token> canvas = RandomCanvas(info_, 64, 1);
  const Position begin = 64 / block_ / 2 * block_;
  for (Position i = begin; i < 64; ++i) canvas[static_cast<std::size_t>(i)] = info_.mask_token;
  const std::vector<Position> rows = Between(begin + 1, begin + block_);
  const auto cost = [&] {
    const std::int64_t before = session->counters().row_passes;
    RowsOf(*session, canvas, rows, true);
    return session->counters().row_passes - before;
  };
  EXPECT_EQ(cost(), begin + block_);
  EXPECT_EQ(cost(), block_);
  canvas[static_cast<std::size_t>(begin)] = canvas[0];
  EXPECT_EQ(cost(), block_);
  canvas[static_cast<std::size_t>(begin) - 1] ^= 1;  // of the block before, which is another now
  EXPECT_EQ(cost(), 2 * block_);
}

TEST_P(Blocks, EveryPlannerGivesTheSameRun) {
  for (const PlannerRow& row : Planners()) {
    const std::shared_ptr<const Planner> planner = MakePlanner(row.name);
    if (planner->needs().influence || (planner->needs().shadow_rows && !info_.has_shadow_rows)) continue;
    for (std::size_t prompt : {5u, 8u}) {
      const Asked asked{.planner = std::string(row.name), .prompt = prompt, .length = block_ > 8 ? 51u : 19u};
      SCOPED_TRACE(fmt::format("{} {}", asked.planner, prompt));
      const bool takes_whole = !planner->needs().attention.empty() || planner->needs().shadow_rows;
      ExpectSame(Generated(model_, asked, "none"), Generated(model_, asked, ""), takes_whole);
    }
  }
}

TEST_P(Blocks, SeedsPromptsWindowsAndThreads) {
  for (const char* planner : {"punt:epsilon=0.001", "punt:form=parallel,fallback=false", "top-k:k=2", "info-gain"}) {
    for (std::size_t prompt : {1u, 4u, 5u, 9u}) {
      for (int window : {0, block_ / 2, 2 * block_}) {
        const Asked asked{.planner = planner,
                          .prompt = prompt,
                          .length = block_ > 8 ? 55 - prompt : 30 - prompt,
                          .seed = prompt,
                          .window = window,
                          .threads = 1 + static_cast<int>(prompt % 2)};
        SCOPED_TRACE(fmt::format("{} {} {}", planner, prompt, window));
        ExpectSame(Generated(model_, asked, "none"), Generated(model_, asked, "blocks"), window > 32);
      }
    }
  }
}

TEST_P(Blocks, GuidanceHasBlocksOfBothSequences) {
  const Asked asked{.planner = "punt", .prompt = 6, .length = 40, .guidance = 1.5};
  ExpectSame(Generated(model_, asked, "none"), Generated(model_, asked, "blocks"), false);
}

TEST_P(Blocks, OtherArithmetic) {
  for (const char* compute : {"float", "int8"}) {
    const Model model = Open(GetParam(), compute);
    const Asked asked{.prompt = 7, .length = 40};
    ExpectSame(Generated(model, asked, "none"), Generated(model, asked, "blocks"), false);
  }
}

TEST_P(Blocks, WithGgmlsAttentionOnlyWhatFollowsIsLeftOut) {
  const Model model = Open(GetParam(), "ggml");
  const auto session = model.denoiser->NewSession({});
  const std::vector<Token> canvas = RandomCanvas(info_, 64, 0.5);
  const std::vector<Position> rows = {0};
  const std::vector<double> whole = RowsOf(*session, canvas, rows, false);
  const std::int64_t before = session->counters().row_passes;
  EXPECT_LE(LargestGap(RowsOf(*session, canvas, rows, true), whole), RowBound(GetParam()));
  EXPECT_EQ(session->counters().row_passes - before, block_);
  EXPECT_EQ(model.denoiser->block_cache().bytes, 0u);
}

TEST_P(Blocks, ABatchThatBeginsAlikeComputesTheBeginningOnce) {
  const auto session = model_.denoiser->NewSession({.threads = 2});
  const auto plain = model_.denoiser->NewSession({});
  std::vector<Token> one = RandomCanvas(info_, 64, 1, 9);
  const Position begin = 64 - block_;
  for (Position i = begin; i < 64; ++i) one[static_cast<std::size_t>(i)] = info_.mask_token;
  std::vector<Token> two = one;
  two[static_cast<std::size_t>(begin)] = one[0];
  std::vector<Token> three = one;
  three[0] ^= 1;
  const std::vector<Position> rows = Between(begin + 1, 64);
  std::vector<Query> queries;
  for (const auto* canvas : {&one, &two, &three, &one}) {
    queries.push_back({.canvas = *canvas, .rows = rows, .reuses_blocks = true});
  }
  queries.push_back({.canvas = two, .rows = rows});  // a whole pass beside them
  const std::vector<PassRef> passes = session->Forward(queries);
  EXPECT_EQ(session->counters().row_passes, 64 + block_ + 64 + block_ + 64);
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const std::vector<Token> canvas(queries[i].canvas.begin(), queries[i].canvas.end());
    EXPECT_EQ(DenseRows(*session, passes[i], rows), RowsOf(*plain, canvas, rows, false)) << i;
  }
  const BlockCacheStats stats = model_.denoiser->block_cache();
  EXPECT_EQ(stats.computed_tokens, 2 * begin);
  EXPECT_EQ(stats.reused_tokens, 2 * begin);
}

TEST_P(Blocks, SamplesTogetherAreTheSameAsAlone) {
  const Asked asked{.planner = "punt:fallback=false", .prompt = 6, .length = 40, .threads = 2};
  const std::vector<Token> tokens = CanvasFor(info_, asked);
  const std::vector<Canvas> canvases(3, Canvas(tokens, info_.mask_token, info_.vocab_size));
  const SessionOptions options{.threads = 2};
  const auto together = GenerateBatch(*model_.denoiser, options, canvases, RecipeFor(info_, asked, "blocks"));
  const Model other = Open(GetParam());
  for (std::size_t i = 0; i < canvases.size(); ++i) {
    Recipe recipe = RecipeFor(info_, asked, "none");
    recipe.sample = i;
    const auto session = other.denoiser->NewSession(options);
    EXPECT_EQ(Generate(*session, canvases[i], recipe).tokens, together[i].tokens);
  }
}

TEST_P(Blocks, AnotherRunFindsWhatOneLeftBehind) {
  const Asked asked{.planner = "top-k:k=1", .prompt = 33, .length = 20};
  const Told first = Generated(model_, asked, "blocks");
  const BlockCacheStats before = model_.denoiser->block_cache();
  EXPECT_EQ(before.bytes_in_use, 0u);
  EXPECT_EQ(before.reused_tokens, 0);
  // The last block is not context of anything.
  EXPECT_EQ(before.computed_tokens, 52 / block_ * block_);
  const Told second = Generated(model_, asked, "blocks");
  const BlockCacheStats after = model_.denoiser->block_cache();
  EXPECT_EQ(second.log.numbers, first.log.numbers);
  EXPECT_EQ(after.reused_tokens, before.computed_tokens);
  EXPECT_EQ(after.computed_tokens, before.computed_tokens);
  EXPECT_LT(second.result.counters.row_passes, first.result.counters.row_passes);
}

TEST_P(Blocks, WithoutRoomARunStillKeepsItsOwn) {
  const Model small = Open(GetParam(), "auto", 0);
  const Asked asked{.planner = "punt", .prompt = 6, .length = 50};
  const Told told = Generated(small, asked, "blocks");
  ExpectSame(Generated(small, asked, "none"), told, false);
  EXPECT_EQ(told.result.counters.row_passes, Generated(Open(GetParam()), asked, "blocks").result.counters.row_passes);
  EXPECT_EQ(small.denoiser->block_cache().bytes, 0u);
}

TEST_P(Blocks, WindowsLieInBlocks) {
  const Asked asked{.planner = "top-k:k=1", .prompt = static_cast<std::size_t>(block_) + 3, .length = 40};
  const Told told = Generated(model_, asked, "");
  EXPECT_EQ(told.log.window, block_);
  std::set<Position> filled;
  for (const std::vector<Position>& committed : told.log.first_step) {
    for (Position position : committed) {
      // Everything before the block of what is filled has been filled.
      const auto so_far = static_cast<Position>(asked.prompt + filled.size());
      EXPECT_GE(so_far, position / block_ * block_);
      filled.insert(position);
    }
  }
  EXPECT_EQ(filled.size(), static_cast<std::size_t>(told.result.committed));
  EXPECT_GT(filled.size(), static_cast<std::size_t>(std::min(block_, 8)));
}

TEST_P(Blocks, WhatDoesNotFitIsRefused) {
  const auto refusal = [&](const Asked& asked, std::string_view cache = "") {
    try {
      Generated(model_, asked, cache);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_NE(refusal({.window = block_ + 1}).find(fmt::format("window of {} ", block_ + 1)), std::string::npos);
  EXPECT_EQ(refusal({.planner = "top-k:k=4", .length = 3, .window = block_}), "nothing");
  DenoiserInfo info = info_;
  info.max_length = 2 * block_ - 1;
  const NeuralDenoiser cut(info, OpenGolden(GetParam()), {});
  const Asked asked{.planner = "top-k:k=4", .prompt = 2, .length = static_cast<std::size_t>(block_) - 1};
  const auto session = cut.NewSession({});
  const Canvas canvas(CanvasFor(info, asked), info.mask_token, info.vocab_size);
  try {
    Generate(*session, canvas, RecipeFor(info, asked, ""));
    ADD_FAILURE() << "a canvas that is too long in whole blocks";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).substr(0, 60),
              fmt::format("a canvas of {} tokens, {} in whole blocks of {}, exceeds the {} that", block_ + 1,
                          2 * block_, block_, 2 * block_ - 1)
                  .substr(0, 60));
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, Blocks, ::testing::ValuesIn(kFolders),
                         [](const auto& each) { return std::string(each.param); });

TEST(BlocksOfNone, AModelWithoutBlocksRefusesTheirCache) {
  const Model model = Open("llada");
  EXPECT_EQ(CachePolicyFor("", model.denoiser->info()), CachePolicy{});
  EXPECT_THROW(Generated(model, {.planner = "top-k:k=4", .length = 8}, "blocks"), Error);
}

}  // namespace
}  // namespace punt
