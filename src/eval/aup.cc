#include "eval/aup.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"

namespace punt {
namespace {

constexpr double kLargestFall = 5;  // percentage points below the first setting
constexpr double kSteepness = 3;

}  // namespace

double AccuracyUnderParallelism(std::span<const AupPoint> points, double best_accuracy) {
  Check(!points.empty() && best_accuracy >= 0, "an area without points");
  if (best_accuracy == 0) return 0;
  std::vector<AupPoint> sorted(points.begin(), points.end());
  std::sort(sorted.begin(), sorted.end(), [](const AupPoint& a, const AupPoint& b) {
    if (a.tokens_per_forward != b.tokens_per_forward) return a.tokens_per_forward < b.tokens_per_forward;
    return a.accuracy > b.accuracy;
  });
  const auto weighted = [&](double accuracy) {
    return accuracy * std::min(std::exp(-kSteepness * (1 - accuracy / best_accuracy)), 1.0);
  };
  AupPoint last = sorted.front();
  const double floor = last.accuracy - kLargestFall;
  double area = last.tokens_per_forward * last.accuracy;
  for (const AupPoint& point : std::span(sorted).subspan(1)) {
    if (point.accuracy < floor) continue;
    area +=
        (point.tokens_per_forward - last.tokens_per_forward) * (weighted(point.accuracy) + weighted(last.accuracy)) / 2;
    last = point;
  }
  return area;
}

}  // namespace punt
