// Requests whose texts begin alike share keys and values: answers stay what they are without, and memory within its
// bound.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "punt/model.h"
#include "serve/completion.h"

namespace punt {
namespace {

using std::chrono_literals::operator""ms;

constexpr std::int64_t kTokens = 12;

Model Open(std::size_t bytes) {
  return OpenModel(PUNT_SOURCE_DIR "/tests/golden/sdar", {.device = "cpu", .block_cache_bytes = bytes});
}

/// Beginnings of 20 tokens, three of them, and ends of some.
std::vector<Token> PromptOf(int number) {
  std::vector<Token> tokens;
  for (int i = 0; i < 20; ++i) tokens.push_back(1 + (number % 3 * 7 + i * i) % 19);
  for (int i = 0; i < number % 5; ++i) tokens.push_back(2 + (number + i) % 11);
  return tokens;
}

CompletionRequest RequestOf(int number, const std::string& cache) {
  return {.prompts = {{.tokens = PromptOf(number)}},
          .max_tokens = kTokens,
          .sampling = {.planner = number % 2 == 0 ? "punt" : "top-k:k=1", .cache = cache},
          .seed = RequestSeed{static_cast<std::uint64_t>(number)},
          .choices = 1 + number % 2};
}

class BlockCacheServing : public ::testing::Test {
 protected:
  struct Server {
    explicit Server(std::size_t bytes, int running)
        : model(Open(bytes)), scheduler(*model.denoiser, {.max_running = running}) {}

    std::vector<std::string> Texts(int number, const std::string& cache) {
      Completion completion(model, scheduler, metrics, RequestOf(number, cache), fmt::format("{}", number));
      while (!completion.is_done()) completion.Next(1ms);
      std::vector<std::string> texts;
      for (const auto& result : completion.results()) texts.push_back(result->text.text);
      return texts;
    }

    Model model;
    Metrics metrics;
    Scheduler scheduler;
  };
};

TEST_F(BlockCacheServing, AnswersAreThoseWithoutIt) {
  constexpr int kRequests = 30;
  constexpr int kThreads = 6;
  Server plain(0, 1);
  std::vector<std::vector<std::string>> expected;
  for (int i = 0; i < kRequests; ++i) expected.push_back(plain.Texts(i, "none"));
  EXPECT_EQ(plain.model.denoiser->block_cache().computed_tokens, 0);

  const std::size_t page = 2 * 2 * 4 * 32 * sizeof(float);  // 2 layers, blocks of 4, 2 heads of 16
  for (std::size_t pages : {0, 6, 1000}) {
    Server server(pages * page, 8);
    std::atomic<bool> is_over = false;
    std::atomic<int> beyond = 0;
    std::thread watch([&] {
      while (!is_over) {
        const BlockCacheStats stats = server.model.denoiser->block_cache();
        // What is given back while the numbers are read has not been counted as in use.
        beyond += stats.bytes > std::max(pages, std::size_t{8 * 9}) * page;
        std::this_thread::sleep_for(1ms);
      }
    });
    std::atomic<int> next = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        for (int number = next++; number < 2 * kRequests; number = next++) {
          EXPECT_EQ(server.Texts(number % kRequests, ""), expected[static_cast<std::size_t>(number % kRequests)])
              << pages << " " << number;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    is_over = true;
    watch.join();
    EXPECT_EQ(beyond, 0);
    const BlockCacheStats stats = server.model.denoiser->block_cache();
    EXPECT_LE(stats.bytes, pages * page);
    EXPECT_EQ(stats.bytes_in_use, 0u);
    EXPECT_GT(stats.computed_tokens, 0);
    EXPECT_TRUE(pages != 6 || stats.dropped_blocks > 0);
    if (pages == 1000) {
      EXPECT_GT(stats.bytes, 0u);
      EXPECT_GT(stats.reused_tokens, stats.computed_tokens);  // every request came twice
      EXPECT_EQ(stats.dropped_blocks, 0);
    }
    const std::string text = server.metrics.Text({.blocks = stats});
    for (const std::string& line :
         {fmt::format("punt_block_cache_tokens_total{{from=\"cache\"}} {}\n", stats.reused_tokens),
          fmt::format("punt_block_cache_tokens_total{{from=\"pass\"}} {}\n", stats.computed_tokens),
          fmt::format("punt_block_cache_bytes {}\n", stats.bytes),
          fmt::format("punt_block_cache_bytes_in_use {}\n", stats.bytes_in_use),
          fmt::format("punt_block_cache_dropped_blocks_total {}\n", stats.dropped_blocks)}) {
      EXPECT_NE(text.find(line), std::string::npos) << line;
    }
  }
}

TEST_F(BlockCacheServing, TheChoicesOfARequestShareItsPrompt) {
  Server server(1 << 20, 8);
  server.Texts(1, "");  // two choices, a prompt of 20 + 1
  const BlockCacheStats stats = server.model.denoiser->block_cache();
  EXPECT_GE(stats.reused_tokens, 20);
  const Server other(1 << 20, 8);
  EXPECT_EQ(other.model.denoiser->block_cache().bytes, 0u);
}

}  // namespace
}  // namespace punt
