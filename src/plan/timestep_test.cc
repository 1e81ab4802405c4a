#include <cmath>
#include <map>

#include "plan/scripted_step_testing.h"

namespace punt {
namespace {

using Set = std::set<Position>;

std::vector<std::size_t> Counts(const std::vector<Set>& steps) {
  std::vector<std::size_t> counts;
  for (const Set& step : steps) counts.push_back(step.size());
  return counts;
}

TEST(Timestep, EvenTimesCommitEvenShares) {
  HandMadeStep step(8);  // t = 1, 0.75, 0.5, 0.25: int(8/4), int(6/3), int(4/2), all
  EXPECT_EQ(Counts(step.Run("timestep:steps=4,eps=0")), (std::vector<std::size_t>{2, 2, 2, 2}));
}

TEST(Timestep, CountsFollowLinspace) {
  const int steps = 7;
  const double eps = 0.001;
  std::vector<double> times;
  for (int j = 0; j <= steps; ++j) times.push_back(1.0 - (1.0 - eps) * j / steps);
  std::vector<std::size_t> expected;
  int masked = 20;
  for (int j = 0; j < steps; ++j) {
    const double share = 1 - times[static_cast<std::size_t>(j) + 1] / times[static_cast<std::size_t>(j)];
    const int count = j == steps - 1 ? masked : static_cast<int>(masked * share);
    expected.push_back(static_cast<std::size_t>(count));
    masked -= count;
  }
  HandMadeStep step(20);
  EXPECT_EQ(Counts(step.Run("timestep:steps=7")), expected);
}

TEST(Timestep, MoreStepsThanPositionsLeaveSomeEmpty) {
  HandMadeStep step(3);
  const std::vector<std::size_t> counts = Counts(step.Run("timestep:steps=20"));
  EXPECT_LE(counts.size(), 20u);
  EXPECT_GT(std::count(counts.begin(), counts.end(), 0u), 0);
}

TEST(Timestep, TakesTheMostConfident) {
  HandMadeStep step(8);
  step.SetProbs({0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.4, 0.6});
  EXPECT_EQ(step.Commits("timestep:steps=4,eps=0"), (Set{1, 3}));
}

TEST(Timestep, TheLastStepAndAnyBeyondCommitEverything) {
  for (int scope_step : {3, 4, 1000}) {
    for (const std::string extra : {"", ",origin=true", ",alg_temp=1"}) {
      HandMadeStep step(8);
      step.scope_step = scope_step;
      EXPECT_EQ(step.Decide("timestep:steps=4" + extra).commit.size(), 8u);
    }
  }
}

TEST(Timestep, OriginCommitsEachIndependently) {
  HandMadeStep step(6);
  step.scope_step = 1;  // t = 0.75, s = 0.5: probability 1/3
  std::vector<int> count(6);
  int both = 0;
  const int draws = 20000;
  const std::shared_ptr<const Planner> planner = MakePlanner("timestep:steps=4,eps=0,origin=true");
  for (int seed = 0; seed < draws; ++seed) {
    step.key.seed = static_cast<std::uint64_t>(seed);
    const Set commits = step.Commits(*planner);
    for (Position position : commits) ++count[static_cast<std::size_t>(position)];
    both += commits.contains(0) && commits.contains(1);
  }
  for (int times : count) EXPECT_NEAR(times / double{draws}, 1.0 / 3, 5 * 0.0034);
  EXPECT_NEAR(both / double{draws}, 1.0 / 9, 5 * 0.0023);
}

// A widely used implementation draws positions with replacement: some come twice, too few are committed.
TEST(Timestep, AlgTempNeverDrawsAPositionTwice) {
  HandMadeStep step(8);
  step.SetProbs({0.99, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01});
  const std::shared_ptr<const Planner> planner = MakePlanner("timestep:steps=2,eps=0,alg_temp=0.1");
  for (int seed = 0; seed < 500; ++seed) {
    step.key.seed = static_cast<std::uint64_t>(seed);
    EXPECT_EQ(step.Decide(*planner).commit.size(), 4u);  // CheckPlan: no repeats
  }
}

TEST(Timestep, AlgTempDrawsWithTheSoftmaxOfConfidence) {
  HandMadeStep step(4);
  step.SetProbs({0.9, 0.5, 0.5, 0.1});
  double total = 0;
  for (Position i = 0; i < 4; ++i) total += std::exp(step.at(i).confidence / 0.5);
  std::map<Position, int> count;
  const int draws = 20000;
  const std::shared_ptr<const Planner> planner = MakePlanner("timestep:steps=4,eps=0,alg_temp=0.5");
  for (int seed = 0; seed < draws; ++seed) {
    step.key.seed = static_cast<std::uint64_t>(seed);
    ++count[step.Decide(*planner).commit.front()];
  }
  for (Position i = 0; i < 4; ++i) {
    EXPECT_NEAR(count[i] / double{draws}, std::exp(step.at(i).confidence / 0.5) / total, 5 * 0.0036);
  }
}

}  // namespace
}  // namespace punt
