// Accuracy under parallelism: one number for a method's whole trade of accuracy against tokens per forward pass.
//
// Settings of one method are points (rho, y): tokens per forward and accuracy in percent, sorted by rho. Those that
// fall more than 5 points below the first are dropped: what parallelism ruined does not count. The others give
//     rho_1 y_1 + sum_i (rho_i - rho_{i-1}) (y_i W(y_i) + y_{i-1} W(y_{i-1})) / 2,
//     W(y) = min(exp(-3 (1 - y / y_max)), 1),
// with y_max the best accuracy of all methods that are compared. From d3LLM (hao-ai-lab). It depends on the settings
// that were tried, so compare methods over grids of similar size.
#pragma once

#include <span>

namespace punt {

struct AupPoint {
  double tokens_per_forward = 0;
  double accuracy = 0;  // percent
};

/// In any order; of points with equal tokens per forward the best is the first. `points` is not empty, `best_accuracy`
/// not negative; where it is 0 the value is 0.
double AccuracyUnderParallelism(std::span<const AupPoint> points, double best_accuracy);

}  // namespace punt
