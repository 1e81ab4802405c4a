// Dirichlet draws are normalised Gamma draws. The Gammas come from the squeeze-free rejection of Marsaglia
// and Tsang, "A simple method for generating gamma variables" (2000): with d = a - 1/3 and c = 1/sqrt(9d),
// the value d (1 + c z)^3 of a standard normal z is accepted with a probability above 0.95 for a >= 1.
// Below one, Gamma(a) = Gamma(a + 1) U^(1/a).
//
// Everything is kept as logarithms until the end: at a concentration of 0.01 most Gammas are smaller than
// the smallest double, and a plain normalisation would divide zero by zero.
//
// Tested by toy_random_test.cc: moments against the closed form, extreme concentrations, permutations.
#include "denoise/toy_random.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace punt {
namespace {

double DrawNormal(RandomStream& stream) {
  const double radius = std::sqrt(-2.0 * std::log(stream.Uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * stream.Uniform());
}

/// The logarithm of a Gamma(shape, 1) variable.
double DrawLogGamma(double shape, RandomStream& stream) {
  if (shape < 1) {
    const double lifted = DrawLogGamma(shape + 1, stream);
    return lifted + std::log(stream.Uniform()) / shape;
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  while (true) {
    const double z = DrawNormal(stream);
    const double root = 1.0 + c * z;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(stream.Uniform()) < 0.5 * z * z + d - d * v + d * std::log(v)) return std::log(d) + std::log(v);
  }
}

}  // namespace

RandomStream ToyStream(std::uint64_t seed, ToyPart part, Position node) {
  const StreamKey key = {.seed = seed, .sample = static_cast<std::uint64_t>(part), .step = 0};
  return RandomStream(key, node, Purpose::kToyModel);
}

std::vector<double> DrawDirichlet(int states, double concentration, RandomStream& stream) {
  Check(states > 0 && concentration > 0, "a Dirichlet law needs states and a positive concentration");
  std::vector<double> point(static_cast<std::size_t>(states));
  for (double& value : point) value = DrawLogGamma(concentration, stream);
  const double top = *std::max_element(point.begin(), point.end());
  double sum = 0;
  for (double& value : point) sum += value = std::exp(value - top);
  for (double& value : point) value /= sum;
  return point;
}

std::vector<Position> DrawPermutation(int count, RandomStream& stream) {
  std::vector<Position> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[stream.Below(left)]);
  return order;
}

}  // namespace punt
