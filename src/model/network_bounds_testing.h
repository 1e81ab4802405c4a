// How far rounding may carry the numbers of a network, in the formats of kernels/rounding_testing.h.
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
// A network with a wrong epsilon or rotation is off by more than ten times the golden bound of 5e-4
// (wrong_variants_test.cc).
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/linear_kernels.h"
#include "kernels/rounding_testing.h"
#include "model/edited_testing.h"
#include "model/golden_testing.h"
#include "punt/random.h"
#include "punt/weights.h"
#include "weights/weights_testing.h"

namespace punt {

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
