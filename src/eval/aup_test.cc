#include "eval/aup.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace punt {
namespace {

TEST(Aup, OnePointIsItsProduct) {
  const std::vector<AupPoint> points = {{2.5, 60}};
  EXPECT_DOUBLE_EQ(AccuracyUnderParallelism(points, 60), 150);
  EXPECT_DOUBLE_EQ(AccuracyUnderParallelism(points, 90), 150) << "the first point is not weighed";
}

TEST(Aup, AgreesWithHandComputedValues) {
  // 1 * 80 + (2 - 1) (78 W(78) + 80) / 2 + (4 - 2) (76 W(76) + 78 W(78)) / 2, W(80) = 1,
  // W(78) = exp(-0.075) = 0.9277434863, W(76) = exp(-0.15) = 0.8607079764.
  const std::vector<AupPoint> points = {{1, 80}, {2, 78}, {4, 76}};
  EXPECT_NEAR(AccuracyUnderParallelism(points, 80), 293.9597941, 1e-6);
  // Against a method that reaches 100: W = exp(-3 (1 - y / 100)).
  EXPECT_NEAR(AccuracyUnderParallelism(std::vector<AupPoint>{{1, 80}, {3, 80}}, 100), 80 + 2 * 80 * std::exp(-0.6),
              1e-9);
}

TEST(Aup, DropsWhatFallsMoreThanFivePointsBelowTheFirst) {
  const std::vector<AupPoint> kept = {{1, 80}, {4, 75}};
  const std::vector<AupPoint> with_ruin = {{1, 80}, {3, 74.99}, {4, 75}, {9, 10}};
  EXPECT_GT(AccuracyUnderParallelism(kept, 80), 80) << "exactly five below counts";
  EXPECT_DOUBLE_EQ(AccuracyUnderParallelism(with_ruin, 80), AccuracyUnderParallelism(kept, 80));
}

TEST(Aup, DoesNotDependOnTheOrderOfThePoints) {
  const std::vector<AupPoint> a = {{1, 80}, {2, 78}, {4, 76}, {2, 79}};
  const std::vector<AupPoint> b = {a[2], a[3], a[0], a[1]};
  EXPECT_DOUBLE_EQ(AccuracyUnderParallelism(a, 81), AccuracyUnderParallelism(b, 81));
}

TEST(Aup, GrowsWithAccuracyAndWithParallelism) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> share(0, 1);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<AupPoint> points = {{1 + share(random), 70}};
    while (points.size() < 5)
      points.push_back({points.back().tokens_per_forward + share(random), 66 + 5 * share(random)});
    const double area = AccuracyUnderParallelism(points, 90);
    for (std::size_t i = 1; i < points.size(); ++i) {
      std::vector<AupPoint> better = points;
      better[i].accuracy += 1;
      EXPECT_GT(AccuracyUnderParallelism(better, 90), area);
    }
    std::vector<AupPoint> faster = points;
    for (AupPoint& point : faster) point.tokens_per_forward *= 1.1;
    EXPECT_GT(AccuracyUnderParallelism(faster, 90), area);
    points.push_back({points.back().tokens_per_forward + 1, 66});
    EXPECT_GT(AccuracyUnderParallelism(points, 90), area) << "another setting that holds up";
  }
}

TEST(Aup, NothingCorrectIsNothing) { EXPECT_EQ(AccuracyUnderParallelism(std::vector<AupPoint>{{3, 0}}, 0), 0); }

}  // namespace
}  // namespace punt
