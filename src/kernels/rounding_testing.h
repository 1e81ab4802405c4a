// How far rounding may carry results: every numeric bound of the tests of kernels and rows is made here (of networks
// and sessions: model/network_bounds_testing.h),
// from the number format, the terms of a sum and the magnitudes. None is a machine's run with room on top: those break
// on the next processor, whose vectors add in another order.
//
// Sums. In floats of unit roundoff u, n additions and products in any order, fused or not, err by at most
//
//   gamma_n = n u / (1 - n u)  times the sum of the magnitudes   (Higham, Accuracy and Stability, section 3.1).
//
// This holds without exception, and is what kernels are held to against their twins in float64.
//
// These bounds are far below what mistakes do: a term that is missing from a sum is off by more
// than any rounding.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/linear_kernels.h"
#include "punt/random.h"

namespace punt {

// ---- number formats: the largest relative error of rounding to the nearest

inline constexpr double kDoubleUnit = 0x1p-53;
inline constexpr double kFloatUnit = 0x1p-24;
inline constexpr double kHalfUnit = 0x1p-11;
inline constexpr double kBrainUnit = 0x1p-8;

// ---- sums

/// gamma_n, relative to the sum of magnitudes.
constexpr double SumBound(double roundings, double unit = kFloatUnit) {
  return roundings * unit / (1 - roundings * unit);
}

/// Of the integer kernels of linear_kernels.h, relative to the sum of magnitudes of the rounded numbers. A block's sum
/// is exact; then every block is converted, scaled, and added, at most two scales and their roundings on the way: one
/// rounding per block and fewer than eight others.
inline double BlockSumBound(double depth) { return SumBound(std::ceil(depth / kBlock) + 8); }

/// Of softmax(q k' / sqrt(d)), relative to each weight. `magnitude` is the largest sum of |q_c k_c| / sqrt(d) of a row:
/// scores err by gamma of d products, the scale's two roundings and a mask's; a weight by twice that, since its own
/// score and those that it is divided by may err in opposite directions; then come exponentials (4 u each, the error of
/// their argument included) and the sum over keys.
constexpr double SoftmaxBound(double dim, double keys, double magnitude) {
  return 2 * SumBound(dim + 3) * magnitude + SumBound(keys + 8);
}

/// Of a mean of values by such weights, relative to the largest value: the weights', and another sum over keys. Every
/// block of 128 keys may rescale what was summed, by an exponential.
constexpr double AttentionBound(double dim, double keys, double magnitude) {
  return SoftmaxBound(dim, keys, magnitude) + SumBound(2 * keys + 8 * (keys / 128 + 1));
}

// ---- rows of a vocabulary of V tokens, whose logits are T (row_kernels.h); all but the sums is double

/// Of a sum of exponentials over a row, relative, and so of its logarithm: lanes add 64 terms of a chunk, two of them
/// are added; up to 16 lanes, and chunks of 128 tokens or more, are added in double; an exponential errs by its
/// polynomial (row_kernels_vector.inc) and 4 units.
template <typename T>
constexpr double RowSumBound(double vocab) {
  constexpr bool is_float = sizeof(T) == sizeof(float);
  return SumBound(64 + 1 + 4, is_float ? kFloatUnit : kDoubleUnit) + SumBound(16 + vocab / 128, kDoubleUnit) +
         (is_float ? 1e-7 : 2e-16);
}

/// H = ln S - W / S with z = x - reference, at most 1, S = sum e^z >= 1 and W = sum z e^z. ln S errs by a sum's error,
/// W by that times sum |z| e^z <= (ln V + 3) S, the quotient by another times |W| / S <= ln V + 1.
template <typename T>
double EntropyBound(double vocab) {
  return RowSumBound<T>(vocab) * (2 * std::log(vocab) + 5);
}

/// KL = M / Sa + ln(Sb / Sa), M = sum e^za (za - zb): twice a sum's error, times the mean of |za - zb|, and two
/// logarithms. That mean is at most KL + 3 ln V + 9, since zb <= 1 bounds what is negative in it. The other divergences
/// are at most 1, made of fewer sums of the same kind.
template <typename T>
double DivergenceBound(double vocab, double divergence) {
  return RowSumBound<T>(vocab) * (2 * divergence + 6 * std::log(vocab) + 20);
}

/// The same in plain loops over float64, which add up V terms.
inline double NaiveRowBound(double vocab, double value) { return SumBound(4 * (vocab + 8), kDoubleUnit) * (1 + value); }

}  // namespace punt
