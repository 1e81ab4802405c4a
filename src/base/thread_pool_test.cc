#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <latch>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

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

TEST_P(Sizes, RangesAreFixedAndNotTooLarge) {
  ThreadPool pool(GetParam());
  if (pool.size() == 1) GTEST_SKIP() << "one thread takes everything at once";
  for (std::size_t most : {1u, 3u, 40u, 1000u}) {
    std::set<std::pair<std::size_t, std::size_t>> first;
    for (int round = 0; round < 20; ++round) {
      std::mutex mutex;
      std::set<std::pair<std::size_t, std::size_t>> ranges;
      const auto note = [&](std::size_t begin, std::size_t end, int) {
        EXPECT_LE(end - begin, most);
        std::lock_guard lock(mutex);
        ranges.emplace(begin, end);
      };
      pool.For(400, note, most);
      if (round == 0) first = ranges;
      EXPECT_EQ(ranges, first);
    }
  }
}

TEST_P(Sizes, AWorkerDoesOneThingAtATime) {
  ThreadPool pool(GetParam());
  std::vector<std::atomic<int>> busy(static_cast<std::size_t>(pool.size()));
  for (int round = 0; round < 200; ++round) {
    pool.For(64, [&](std::size_t, std::size_t, int worker) {
      EXPECT_EQ(busy[static_cast<std::size_t>(worker)]++, 0);
      --busy[static_cast<std::size_t>(worker)];
    });
  }
}

TEST_P(Sizes, LoopsSeeWhatWasDoneBefore) {
  ThreadPool pool(GetParam());
  std::vector<std::size_t> numbers(97, 0);
  std::vector<std::size_t> mirrored(97, 0);
  for (std::size_t round = 1; round < 2000; ++round) {
    pool.For(numbers.size(), [&](std::size_t begin, std::size_t end, int) {
      for (std::size_t i = begin; i < end; ++i) numbers[i] = mirrored[96 - i] + 1;
    });
    pool.For(numbers.size(), [&](std::size_t begin, std::size_t end, int) {
      for (std::size_t i = begin; i < end; ++i) mirrored[96 - i] = numbers[i];
    });
  }
  for (std::size_t number : mirrored) EXPECT_EQ(number, 1999u);
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

INSTANTIATE_TEST_SUITE_P(Pool, Sizes, testing::Values(1, 2, 7, 16));

TEST(ThreadPoolTest, OneThreadIsTheCaller) {
  ThreadPool pool(1);
  const std::thread::id caller = std::this_thread::get_id();
  pool.For(10, [&](std::size_t begin, std::size_t end, int) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(begin, 0u);
    EXPECT_EQ(end, 10u);
  });
}

// Threads that do not run, because other programs use the processors, are not waited for.
TEST(ThreadPoolTest, FinishesWithoutHelpersThatDoNotCome) {
  for (int held : {1, 3}) {  // of three helpers
    std::latch release(1);
    {
      ThreadPool pool(4, {.before_work = [&](int worker) {
                        if (worker <= held) release.wait();
                      }});
      for (int round = 0; round < 100; ++round) {
        std::atomic<std::size_t> sum = 0;
        std::atomic<bool> held_ran = false;
        pool.For(1000, [&](std::size_t begin, std::size_t end, int worker) {
          sum += end - begin;
          if (worker > 0 && worker <= held) held_ran = true;
        });
        EXPECT_EQ(sum, 1000u);
        EXPECT_FALSE(held_ran);
      }
      release.count_down();
      std::atomic<std::size_t> sum = 0;
      pool.For(1000, [&](std::size_t begin, std::size_t end, int) { sum += end - begin; });
      EXPECT_EQ(sum, 1000u);
    }
  }
}

/// A loop of two portions, one for the pool's only helper, which calls `stall` when the caller is done with the other.
void StallHelper(ThreadPool& pool, const std::function<void()>& stall) {
  std::atomic<bool> helper_came = false;
  std::atomic<bool> caller_ends = false;
  pool.For(2, [&](std::size_t, std::size_t, int worker) {
    if (worker == 0) {
      while (!helper_came) std::this_thread::yield();  // it takes the other portion
      caller_ends = true;
    } else {
      helper_came = true;
      while (!caller_ends) std::this_thread::yield();
      stall();
    }
  });
}

TEST(ThreadPoolTest, WaitsForAPortionThatWasBegun) {
  for (int round = 0; round < 20; ++round) {
    ThreadPool pool(2);  // a new one: the last may be working alone
    bool is_slow_done = false;
    StallHelper(pool, [&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      is_slow_done = true;
    });
    EXPECT_TRUE(is_slow_done);
  }
}

/// A clock that stands still until it is told to go on.
class HandClock {
 public:
  ThreadPoolHooks hooks() {
    return {.now = [this] {
      ++looks_;
      return std::chrono::nanoseconds(time_.load());
    }};
  }
  void Pass(std::chrono::nanoseconds time) { time_ += time.count(); }
  int looks() const { return looks_; }

 private:
  std::atomic<std::int64_t> time_ = 1'000'000'000;
  std::atomic<int> looks_ = 0;
};

/// The caller waits 3 ms for the helper.
void StallHelper(ThreadPool& pool, HandClock& clock) {
  const int before = clock.looks();
  StallHelper(pool, [&] {
    // When to share, when the loop began, when the waiting did.
    while (clock.looks() < before + 3) std::this_thread::yield();
    clock.Pass(std::chrono::milliseconds(3));
  });
}

TEST(ThreadPoolTest, GoesOnAloneAfterAStallAndAsksAgainLater) {
  HandClock clock;
  ThreadPool pool(2, clock.hooks());
  StallHelper(pool, clock);
  for (int round = 0; round < 20; ++round) {
    std::size_t covered = 0;
    pool.For(100, [&](std::size_t begin, std::size_t end, int worker) {
      EXPECT_EQ(worker, 0);
      EXPECT_EQ(begin, covered);
      covered = end;
    });
    EXPECT_EQ(covered, 100u);
  }
  clock.Pass(SoloTime::kFirstFactor * std::chrono::milliseconds(3));
  bool helper_came = false;
  StallHelper(pool, [&] { helper_came = true; });  // does not end without it
  EXPECT_TRUE(helper_came);
}

TEST(ThreadPoolTest, SharesTheRestOfALoopOnceItIsNoLongerAlone) {
  HandClock clock;
  ThreadPool pool(2, clock.hooks());
  StallHelper(pool, clock);
  std::atomic<int> own = 0;
  std::atomic<bool> helper_came = false;
  std::vector<std::atomic<int>> visits(16);
  pool.For(visits.size(), [&](std::size_t begin, std::size_t end, int worker) {
    for (std::size_t i = begin; i < end; ++i) ++visits[i];
    if (worker == 1) {
      helper_came = true;
    } else if (++own <= 12) {
      clock.Pass(std::chrono::milliseconds(1));
    } else {
      while (!helper_came) std::this_thread::yield();
    }
  });
  EXPECT_TRUE(helper_came);
  for (const std::atomic<int>& visit : visits) EXPECT_EQ(visit, 1);
}

TEST(ThreadPoolTest, RethrowsWhenAlone) {
  HandClock clock;
  ThreadPool pool(2, clock.hooks());
  StallHelper(pool, clock);
  EXPECT_THROW(pool.For(100, [](std::size_t, std::size_t, int) { throw std::runtime_error("alone"); }),
               std::runtime_error);
}

TEST(ThreadPoolTest, ComesBackFromSleep) {
  ThreadPool pool(3);
  for (int round = 0; round < 30; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // longer than helpers look for work
    std::atomic<std::size_t> sum = 0;
    pool.For(100, [&](std::size_t begin, std::size_t end, int) { sum += end - begin; });
    EXPECT_EQ(sum, 100u);
  }
}

TEST(ThreadPoolTest, NeedsAThread) {
  EXPECT_THROW(ThreadPool(0), Error);
  EXPECT_THROW(ThreadPool(-3), Error);
}

}  // namespace
}  // namespace punt
