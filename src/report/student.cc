// With whole degrees of freedom the distribution is a finite sum in the angle whose tangent is t / sqrt(degrees)
// (Abramowitz and Stegun, 26.7.3 and 26.7.4), and grows with the angle: the reach is found by halving. From some
// hundreds of degrees on the sum is long and the distribution nearly normal; Fisher's expansion of the quantile around
// the normal one (26.7.5) is then as exact.
//
// Tested by: student_test.cc (a published table; the density, integrated; where the two methods meet).
#include "report/student.h"

#include <cmath>
#include <numbers>

#include "base/check.h"

namespace punt {
namespace {

constexpr double kNormalReach = 1.959963984540054;  // the normal quantile of 0.975
constexpr std::int64_t kLongSum = 400;
constexpr int kHalvings = 60;

/// P(|T| <= sqrt(degrees) tan(angle)).
double WithinAngle(double angle, std::int64_t degrees) {
  const double cosine = std::cos(angle), sine = std::sin(angle);
  const bool is_odd = degrees % 2 == 1;
  if (degrees == 1) return 2 * angle / std::numbers::pi;
  double term = is_odd ? cosine : 1;
  double sum = term;
  for (std::int64_t i = is_odd ? 3 : 2; i <= degrees - 2; i += 2) {
    term *= cosine * cosine * static_cast<double>(i - 1) / static_cast<double>(i);
    sum += term;
  }
  return is_odd ? 2 / std::numbers::pi * (angle + sine * sum) : sine * sum;
}

double ReachOfMany(double degrees) {
  const double z = kNormalReach, z2 = z * z;
  const double first = z * (z2 + 1) / 4;
  const double second = z * ((5 * z2 + 16) * z2 + 3) / 96;
  const double third = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
  return z + (first + (second + third / degrees) / degrees) / degrees;
}

}  // namespace

double StudentWithin(double t, std::int64_t degrees) {
  Check(degrees >= 1 && t >= 0, "no such t distribution");
  return WithinAngle(std::atan(t / std::sqrt(static_cast<double>(degrees))), degrees);
}

double StudentReach95(std::int64_t degrees) {
  Check(degrees >= 1, "no degrees of freedom");
  if (degrees >= kLongSum) return ReachOfMany(static_cast<double>(degrees));
  double low = 0, high = std::numbers::pi / 2;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (WithinAngle(middle, degrees) < 0.95 ? low : high) = middle;
  }
  return std::sqrt(static_cast<double>(degrees)) * std::tan(low);
}

}  // namespace punt
