#include "base/even_shares.h"

#include <gtest/gtest.h>

#include "punt/random.h"

namespace punt {
namespace {

using Shares = std::vector<std::vector<std::size_t>>;

TEST(EvenShares, TheMostExpensiveGoesFirst) {
  EXPECT_EQ(EvenShares(std::vector<std::int64_t>{1, 5, 4}, 2, 1.1), (Shares{{1}, {2, 0}}));
  EXPECT_EQ(EvenShares(std::vector<std::int64_t>{3, 3, 3, 3}, 2, 1.0), (Shares{{0, 2}, {1, 3}}));
}

TEST(EvenShares, NothingWhereSomebodyWouldWait) {
  EXPECT_TRUE(EvenShares(std::vector<std::int64_t>{7}, 2, 9).empty());
  EXPECT_TRUE(EvenShares(std::vector<std::int64_t>{5, 5, 5}, 2, 1.3).empty());
  EXPECT_FALSE(EvenShares(std::vector<std::int64_t>{5, 5, 5}, 2, 1.4).empty());
  EXPECT_TRUE(EvenShares({}, 2, 1).empty());
}

TEST(EvenShares, EveryItemIsSomebodysOnce) {
  RandomStream stream({.seed = 5, .sample = 0}, 0, Purpose::kPlan);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::int64_t> costs(3 + static_cast<std::size_t>(20 * stream.Uniform()));
    for (std::int64_t& cost : costs) cost = static_cast<std::int64_t>(50 * stream.Uniform());
    std::vector<int> seen(costs.size());
    for (const auto& share : EvenShares(costs, 3, 100)) {
      for (std::size_t item : share) ++seen[item];
    }
    EXPECT_EQ(seen, std::vector<int>(costs.size(), 1));
  }
}

}  // namespace
}  // namespace punt
