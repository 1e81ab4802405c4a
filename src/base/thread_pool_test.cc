#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>

#include "punt/error.h"

namespace punt {
namespace {

class Sizes : public testing::TestWithParam<int> {};

TEST_P(Sizes, CoversEveryIndexOnce) {
  ThreadPool pool(GetParam());
  EXPECT_EQ(pool.size(), GetParam());
  for (std::size_t count : {0u, 1u, 2u, 3u, 7u, 8u, 100u, 1001u}) {
    std::vector<std::atomic<int>> visits(count);
    pool.For(count, [&](std::size_t begin, std::size_t end, int worker) {
      EXPECT_LT(begin, end);
      EXPECT_GE(worker, 0);
      EXPECT_LT(worker, pool.size());
      for (std::size_t i = begin; i < end; ++i) ++visits[i];
    });
    for (const std::atomic<int>& visit : visits) EXPECT_EQ(visit, 1);
  }
}

TEST_P(Sizes, SharesAreFixed) {
  ThreadPool pool(GetParam());
  std::vector<int> first(100, -1);
  for (int round = 0; round < 20; ++round) {
    std::vector<int> owner(100, -1);
    pool.For(owner.size(), [&](std::size_t begin, std::size_t end, int worker) {
      for (std::size_t i = begin; i < end; ++i) owner[i] = worker;
    });
    if (round == 0) first = owner;
    EXPECT_EQ(owner, first);
  }
  EXPECT_EQ(std::set<int>(first.begin(), first.end()).size(), static_cast<std::size_t>(GetParam()));
}

TEST_P(Sizes, RethrowsAndGoesOn) {
  ThreadPool pool(GetParam());
  for (std::size_t bad : {0u, 50u, 99u}) {
    const auto fail = [&](std::size_t begin, std::size_t end, int) {
      if (begin <= bad && bad < end) throw std::runtime_error("at " + std::to_string(bad));
    };
    try {
      pool.For(100, fail);
      FAIL() << "no exception";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), "at " + std::to_string(bad));
    }
    std::atomic<std::size_t> sum = 0;
    pool.For(100, [&](std::size_t begin, std::size_t end, int) { sum += end - begin; });
    EXPECT_EQ(sum, 100u);
  }
}

TEST_P(Sizes, FinishesTheOtherSharesBeforeItThrows) {
  ThreadPool pool(GetParam());
  std::atomic<int> running = 0;
  for (int round = 0; round < 50; ++round) {
    try {
      pool.For(100, [&](std::size_t begin, std::size_t, int) {
        ++running;
        if (begin == 0) {
          --running;
          throw std::runtime_error("early");
        }
        std::this_thread::yield();
        --running;
      });
    } catch (const std::runtime_error&) {
    }
    EXPECT_EQ(running, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Pool, Sizes, testing::Values(1, 2, 7));

TEST(ThreadPoolTest, OneThreadIsTheCaller) {
  ThreadPool pool(1);
  const std::thread::id caller = std::this_thread::get_id();
  pool.For(10, [&](std::size_t begin, std::size_t end, int) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(begin, 0u);
    EXPECT_EQ(end, 10u);
  });
}

TEST(ThreadPoolTest, NeedsAThread) {
  EXPECT_THROW(ThreadPool(0), Error);
  EXPECT_THROW(ThreadPool(-3), Error);
}

}  // namespace
}  // namespace punt
