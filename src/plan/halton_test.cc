#include <cmath>
#include <numbers>

#include "plan/scripted_step_testing.h"

namespace punt {
namespace {

using Set = std::set<Position>;
using Steps = std::vector<Set>;

TEST(Halton, OneByOneIsTheVanDerCorputOrder) {
  HandMadeStep step(8);  // so many steps that max(j, ...) decides: one position each
  const Steps steps = step.Run("halton:steps=1000000");
  EXPECT_EQ(steps, (Steps{{0}, {4}, {2}, {6}, {1}, {5}, {3}, {7}}));
}

TEST(Halton, OtherLengthsRoundDownAndDropRepeats) {
  HandMadeStep step(6);  // 6 * (0, 4, 2, 6, 1, 5, 3, 7) / 8 = 0, 3, 1.5, 4.5, 0.75, 3.75, 2.25, 5.25
  EXPECT_EQ(step.Run("halton:steps=1000000"), (Steps{{0}, {3}, {1}, {4}, {2}, {5}}));
  HandMadeStep one(1);
  EXPECT_EQ(one.Run("halton"), (Steps{{0}}));
}

TEST(Halton, EveryPositionIsReachedAtAnyLength) {
  for (int length = 1; length <= 70; ++length) {
    HandMadeStep step(length);
    EXPECT_EQ(step.Run("halton:steps=1000000").size(), static_cast<std::size_t>(length));
  }
}

TEST(Halton, ArccosScheduleByHand) {
  // acos(1/4), acos(1/2), acos(3/4) over pi/2: 0.8391, 2/3, 0.4601; 12 of them: 1.93, 4, 6.48, 12
  HandMadeStep step(12);
  std::vector<std::size_t> counts;
  for (const Set& commits : step.Run("halton:steps=4")) counts.push_back(commits.size());
  EXPECT_EQ(counts, (std::vector<std::size_t>{1, 3, 2, 6}));
}

TEST(Halton, FollowsTheFormula) {
  for (int n : {5, 16, 33, 100}) {
    for (int steps : {1, 2, 7, 16, 64}) {
      HandMadeStep step(n);
      const Steps ran = step.Run("halton:steps=" + std::to_string(steps));
      EXPECT_EQ(ran.size(), static_cast<std::size_t>(std::min(n, steps)));
      std::size_t filled = 0;
      for (std::size_t j = 1; j <= ran.size(); ++j) {
        filled += ran[j - 1].size();
        const double x = static_cast<double>(j) / steps;
        const double share = n * (1 - std::acos(x) / (std::numbers::pi / 2));
        const auto expected = std::min<std::size_t>(static_cast<std::size_t>(n),
                                                    std::max(j, static_cast<std::size_t>(std::floor(share + 1e-9))));
        EXPECT_EQ(filled, expected) << "n " << n << " steps " << steps << " j " << j;
      }
    }
  }
}

TEST(Halton, CatchesUpAndNeverStands) {
  HandMadeStep step(8);
  step.Fill(0, 0);
  EXPECT_EQ(step.Commits("halton:steps=100"), (Set{4}));  // the first of the order is there already
  step.scope_step = 2;
  EXPECT_EQ(step.Commits("halton:steps=100"), (Set{4, 2}));
  step.scope_step = 100;
  EXPECT_EQ(step.Decide("halton:steps=100").commit.size(), 7u);
}

}  // namespace
}  // namespace punt
