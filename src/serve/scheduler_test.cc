// Who runs when: limits, turns between clients, and answers that do not depend on company.
#include "serve/scheduler.h"

#include <gtest/gtest.h>

#include <thread>

#include "punt/generator.h"
#include "punt/model.h"
#include "serve/api_error.h"

namespace punt {
namespace {

const std::atomic<bool> kNever = false;

int StatusOf(Scheduler& scheduler, const std::vector<Scheduler::Demand>& demands) {
  try {
    scheduler.Admit(demands);
  } catch (const ApiError& error) {
    return error.status();
  }
  return 200;
}

class SchedulerTest : public ::testing::Test {
 protected:
  const Model model_ = OpenModel("toy:markov,length=12,vocab=4,seed=1,coupling=0.9");
};

TEST_F(SchedulerTest, TheQueueIsBounded) {
  Scheduler scheduler(*model_.denoiser, {.max_waiting = 2});
  const auto first = scheduler.Admit({{.client = "a", .rows = 1}});
  EXPECT_EQ(StatusOf(scheduler, {{.client = "a", .rows = 1}, {.client = "a", .rows = 1}}), 429);
  EXPECT_EQ(StatusOf(scheduler, {{.client = "a", .rows = 1}}), 200);
  EXPECT_EQ(scheduler.waiting(), 1);  // those that were refused left nothing behind
  ASSERT_NE(first[0]->Start(kNever), nullptr);
  EXPECT_EQ(scheduler.waiting(), 0);
  EXPECT_EQ(scheduler.running(), 1);
  scheduler.Close();
  EXPECT_EQ(StatusOf(scheduler, {{.client = "a", .rows = 1}}), 503);
}

TEST_F(SchedulerTest, WhoLeavesMakesRoom) {
  Scheduler scheduler(*model_.denoiser, {.max_running = 1});
  auto slots = scheduler.Admit({{.client = "a", .rows = 1}, {.client = "a", .rows = 1}});
  ASSERT_NE(slots[0]->Start(kNever), nullptr);
  EXPECT_FALSE(slots[1]->is_turn());
  std::thread second([&] { EXPECT_NE(slots[1]->Start(kNever), nullptr); });
  slots[0].reset();
  second.join();
  EXPECT_EQ(scheduler.running(), 1);
  EXPECT_EQ(scheduler.waiting(), 0);
}

TEST_F(SchedulerTest, ACancelledOneDoesNotStart) {
  Scheduler scheduler(*model_.denoiser, {.max_running = 1});
  auto slots = scheduler.Admit({{.client = "a", .rows = 1}, {.client = "a", .rows = 1}});
  ASSERT_NE(slots[0]->Start(kNever), nullptr);
  std::atomic<bool> cancel = false;
  std::thread second([&] { EXPECT_EQ(slots[1]->Start(cancel), nullptr); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // it is most likely waiting by now
  cancel = true;
  scheduler.Wake();
  second.join();
}

TEST_F(SchedulerTest, RowsAreABudgetAndBansKeepApart) {
  Scheduler scheduler(*model_.denoiser, {.max_rows = 10});
  auto slots = scheduler.Admit({{.client = "a", .rows = 20}, {.client = "a", .rows = 5}});
  ASSERT_NE(slots[0]->Start(kNever), nullptr);  // alone, it may be longer
  EXPECT_FALSE(slots[1]->is_turn());
  slots[0].reset();
  ASSERT_TRUE(slots[1]->is_turn());
  ASSERT_NE(slots[1]->Start(kNever), nullptr);
  EXPECT_FALSE(slots[1]->is_turn());  // it has had it
  auto banned = scheduler.Admit({{.client = "a", .rows = 5, .banned_tokens = {1}}});
  EXPECT_FALSE(banned[0]->is_turn());
  banned.clear();
  EXPECT_TRUE(scheduler.Admit({{.client = "a", .rows = 5}})[0]->is_turn());
  EXPECT_FALSE(scheduler.Admit({{.client = "a", .rows = 6}})[0]->is_turn());
}

TEST_F(SchedulerTest, TurnsGoRoundBetweenClients) {
  Scheduler scheduler(*model_.denoiser, {.max_running = 2});
  auto many = scheduler.Admit(std::vector<Scheduler::Demand>(5, {.client = "many", .rows = 1}));
  ASSERT_NE(many[0]->Start(kNever), nullptr);
  ASSERT_NE(many[1]->Start(kNever), nullptr);
  auto one = scheduler.Admit({{.client = "one", .rows = 1}});
  EXPECT_FALSE(many[2]->is_turn());
  EXPECT_FALSE(one[0]->is_turn());
  many[0].reset();
  EXPECT_FALSE(many[2]->is_turn());
  ASSERT_TRUE(one[0]->is_turn());  // though it came last
  ASSERT_NE(one[0]->Start(kNever), nullptr);
  many[1].reset();
  EXPECT_TRUE(many[2]->is_turn());
  EXPECT_FALSE(many[3]->is_turn());
}

TEST_F(SchedulerTest, ResultsDoNotDependOnCompany) {
  const DenoiserInfo& info = model_.denoiser->info();
  const auto generate = [&](DenoiserSession& session, std::uint64_t seed) {
    Recipe recipe = MakeRecipe("punt:epsilon=0.1", "", {}, info);
    recipe.seed = seed;
    return Generate(session, Canvas(std::vector<Token>(12, info.mask_token), info.mask_token, info.vocab_size), recipe);
  };
  Scheduler scheduler(*model_.denoiser, {});
  auto slots = scheduler.Admit(std::vector<Scheduler::Demand>(8, {.client = "a", .rows = 12}));
  std::vector<std::thread> threads;
  std::vector<GenerateResult> together(slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    threads.emplace_back([&, i] {
      together[i] = generate(*slots[i]->Start(kNever), i);
      slots[i].reset();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const GenerateResult alone = generate(*model_.denoiser->NewSession({}), i);
    EXPECT_EQ(together[i].tokens, alone.tokens);
    EXPECT_EQ(together[i].counters.nfe(), alone.counters.nfe());
  }
}

/// Everybody's passes are in the metrics of batches, and those who run together share them.
TEST_F(SchedulerTest, MetricsSeeEveryBatch) {
  const DenoiserInfo& info = model_.denoiser->info();
  Metrics metrics;
  Scheduler scheduler(*model_.denoiser, {}, &metrics);
  auto slots = scheduler.Admit(std::vector<Scheduler::Demand>(4, {.client = "a", .rows = 12}));
  std::vector<DenoiserSession*> sessions;
  for (auto& slot : slots) sessions.push_back(slot->Start(kNever));
  std::vector<std::thread> threads;
  std::vector<Counters> counters(slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    threads.emplace_back([&, i] {
      const Canvas canvas(std::vector<Token>(12, info.mask_token), info.mask_token, info.vocab_size);
      Recipe recipe = MakeRecipe("punt:epsilon=0.1", "", {}, info);
      recipe.seed = i;
      counters[i] = Generate(*sessions[i], canvas, recipe).counters;
      slots[i].reset();
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::int64_t passes = 0;
  std::int64_t most_calls = 0;
  for (const Counters& one : counters) {
    passes += one.nfe();
    most_calls = std::max(most_calls, one.calls);
  }
  const std::string text = metrics.Text({});
  const auto has = [&](const std::string& line) { return text.find("\n" + line + "\n") != std::string::npos; };
  EXPECT_TRUE(has("punt_batch_sequences_sum " + std::to_string(passes))) << text;
  EXPECT_TRUE(has("punt_batch_sequences_count " + std::to_string(most_calls))) << text;
  EXPECT_TRUE(has("punt_forward_seconds_count " + std::to_string(most_calls))) << text;
  EXPECT_FALSE(has("punt_forward_seconds_sum 0")) << text;
}

}  // namespace
}  // namespace punt
