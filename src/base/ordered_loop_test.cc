#include "base/ordered_loop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>

namespace punt {
namespace {

TEST(OrderedLoop, TakesEveryResultOnceAndInOrder) {
  for (int jobs : {0, 1, 2, 3, 8}) {
    for (std::size_t count : {0, 1, 2, 7, 200}) {
      std::atomic<std::size_t> made = 0;
      std::vector<std::size_t> taken;
      MakeInOrder(
          count, jobs,
          [&](std::size_t i) {
            if (i % 3 == 0) std::this_thread::yield();
            ++made;
            return i * i;
          },
          [&](std::size_t i, std::size_t square) {
            EXPECT_EQ(square, i * i);
            taken.push_back(i);
          });
      EXPECT_EQ(made, count);
      ASSERT_EQ(taken.size(), count);
      for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(taken[i], i);
    }
  }
}

TEST(OrderedLoop, StopsAtAnException) {
  for (int jobs : {1, 2, 5}) {
    std::atomic<int> made = 0;
    std::size_t taken = 0;
    const auto fail_in_make = [&] {
      MakeInOrder(
          1'000'000, jobs,
          [&](std::size_t i) {
            ++made;
            if (i == 20) throw std::runtime_error("20");
            return i;
          },
          [&](std::size_t, std::size_t) { ++taken; });
    };
    EXPECT_THROW(fail_in_make(), std::runtime_error);
    EXPECT_LT(made, 1'000'000);
    EXPECT_LE(taken, 20u);
    const auto fail_in_take = [&] {
      MakeInOrder(
          1'000'000, jobs, [](std::size_t i) { return i; },
          [](std::size_t i, std::size_t) {
            if (i == 3) throw std::runtime_error("3");
            EXPECT_LT(i, 3u);
          });
    };
    EXPECT_THROW(fail_in_take(), std::runtime_error);
  }
}

}  // namespace
}  // namespace punt
