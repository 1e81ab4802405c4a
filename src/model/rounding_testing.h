// How far rounding may carry results: every numeric bound of the tests of kernels, networks and sessions is made here,
// from the number format, the terms of a sum and the magnitudes. None is a machine's run with room on top: those break
// on the next processor, whose vectors add in another order.
//
// Sums. In floats of unit roundoff u, n additions and products in any order, fused or not, err by at most
//
//   gamma_n = n u / (1 - n u)  times the sum of the magnitudes   (Higham, Accuracy and Stability, section 3.1).
//
// This holds without exception, and is what kernels are held to against their twins in float64.
//
// Networks. The same over many layers would say nothing: worst cases multiply. There the forward error is estimated as
// condition times backward error.
//   - Backward error: roundings behave like independent errors of mean zero (Higham and Mary, 2019). After k terms of
//     random sign and size r a sum is about sqrt(k) r, and its rounding errs evenly within u times that, by a third of
//     the square on average; n of them add up to n r u / sqrt(6), and n weights that are off by a relative e each to
//     sqrt(n) r e. So a product in floats is one whose weights are off by e = u sqrt(n / 6); in a narrower format they
//     are off by what the format rounds (FormatError), whatever n.
//   - Condition: how far the numbers in question move when all weights of the network move by random relative amounts.
//     Measured at test time, by moving them (Sensitivity): a property of the model, and the same on every processor.
//   - The largest of many errors of that kind is within kTail of the largest of as many others.
// Two computations that must agree are each that far from the truth, at most; the bound of their difference is the sum.
//
// These bounds are far below what mistakes do: a network with a wrong epsilon or rotation is off by more than ten times
// the golden bound of 5e-4 (wrong_variants_test.cc), and a term that is missing from a sum by more than any rounding.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/edited_testing.h"
#include "model/golden_testing.h"
#include "model/linear_kernels.h"
#include "punt/random.h"
#include "punt/weights.h"
#include "weights/weights_testing.h"

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

// ---- networks

/// The largest of many errors against the largest of as many others of the same kind.
inline constexpr double kTail = 3;

/// How many times larger than what is seen a bound of that kind may be and still say something.
inline constexpr double kLoosest = 30;

/// What the weights' format moves them by, relative to their root mean square. Rounding errs evenly across a step, by
/// step / sqrt(12).
///   f16, bf16   a step is 2 units at most; the 16-bit kernel rounds f16 once more, to 1 / kInt16Magnitudes of the sum
///   of
///               a block's 32 magnitudes, 0.8 each
///   q8_0        a step is 1/127 of a block's largest magnitude: 2.2, of 32 normal numbers
/// Activations that meet weights in the same format are off by as much again.
inline double FormatError(const std::string& type) {
  const auto of_step = [](double step) { return step / std::sqrt(12.0); };
  if (type == "f16") return of_step(std::hypot(2 * kHalfUnit, kBlock * 0.8 / kInt16Magnitudes));
  if (type == "bf16") return of_step(2 * kBrainUnit);
  if (type == "q8_0") return of_step(2.2 / 127);
  return 0;
}

/// What float arithmetic amounts to, as a relative error of the weights: the longest sum of the network decides.
inline double FloatError(const Hyperparameters& hyper, double length) {
  const auto longest = static_cast<double>(std::max(hyper.model_dim, hyper.feed_forward_dim));
  return kFloatUnit * std::sqrt(std::max(longest, length) / 6);
}

using OpenSource = std::function<std::unique_ptr<WeightSource>()>;
using Reading = std::function<std::vector<float>(const Network&)>;

/// How far what is read of a network moves, at most, for weights that are all off by random relative errors, divided by
/// their root mean square. The weights must be f32. They are moved little enough for routers to choose the same
/// experts, and far enough for float arithmetic not to show; the median of three, since a router may still be in two
/// minds.
inline double Sensitivity(const OpenSource& open, const Reading& read) {
  constexpr double kStep = 0x1p-19;
  const NetworkOptions options{.device = "cpu", .compute = Compute::kFloat};
  const std::vector<float> plain = read(Network(open(), options));
  std::vector<double> largest;
  for (std::uint64_t seed : {1, 2, 3}) {
    auto moved = std::make_unique<EditedSource>(open());
    const std::vector<TensorInfo> infos(moved->tensors().begin(), moved->tensors().end());
    for (std::size_t i = 0; i < infos.size(); ++i) {
      moved->Change(infos[i].name, [seed, i](std::span<float> values) {
        RandomStream stream({.seed = seed, .sample = i}, 0, Purpose::kPlan);
        for (float& value : values) {
          value = static_cast<float>(value * (1 + kStep * std::sqrt(3.0) * (2 * stream.Uniform() - 1)));
        }
      });
    }
    largest.push_back(LargestDifference(read(Network(std::move(moved), options)), plain));
  }
  std::sort(largest.begin(), largest.end());
  return largest[1] / kStep;
}

/// A golden model's weights as f32, whatever the folder holds.
inline OpenSource GoldenFloats(const std::string& folder) {
  return [folder] {
    const testing::TempFolder temp;  // what is mapped stays when its name is gone
    ConvertModel(GoldenFolder(folder), temp / "m.gguf", {.type = "f32"});
    return OpenModelFiles(temp / "m.gguf");
  };
}

/// Bounds of numbers that a golden model computes.
struct NetworkBounds {
  double sensitivity = 0;
  double arithmetic = 0;  // a float network against the truth
  /// Two ways to compute the same in floats.
  double Twice() const { return 2 * arithmetic; }
  /// Weights, and activations where they are rounded with them, in another format.
  double Format(const std::string& type) const { return arithmetic + kTail * sensitivity * FormatError(type); }
};
inline NetworkBounds BoundsOf(const std::string& folder, double length, const Reading& read) {
  const double sensitivity = Sensitivity(GoldenFloats(folder), read);
  const double error = FloatError(OpenGolden(folder)->hyper(), length);
  return {.sensitivity = sensitivity, .arithmetic = kTail * sensitivity * error};
}

/// Of the logits of all cases that a fixture has. Probabilities are less sensitive than the logits they are made of,
/// and logarithms of them at most twice as much.
inline NetworkBounds LogitBounds(const GoldenFixture& fixture) {
  const std::vector<GoldenCase> cases = GoldenCases(fixture.inputs);
  double length = 0;
  for (const GoldenCase& c : cases) length = std::max(length, static_cast<double>(c.tokens.size()));
  return BoundsOf(fixture.folder, length, [&](const Network& network) {
    NetworkRunner runner(network, {});
    std::vector<float> all;
    for (const GoldenCase& c : cases) {
      const std::vector<float> logits = LogitsOf(runner, network, c);
      all.insert(all.end(), logits.begin(), logits.end());
    }
    return all;
  });
}
inline NetworkBounds LogitBounds(const std::string& folder) {
  return LogitBounds({.folder = folder.c_str(), .inputs = folder.c_str(), .truth = folder.c_str()});
}

}  // namespace punt
