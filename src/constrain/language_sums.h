// Sums over all ways to fill a canvas within a language: the forward-backward algorithm on a token automaton.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "constrain/language_ways.h"

namespace punt {

/// The logarithm of what the model gives probability 0 and the language may need, in sums in logarithms.
inline constexpr double kImprobable = -10'000;

/// How sums are taken.
///   kLinear   sums of products, scaled at each position
///   kLog      the same in logarithms: slower, for products that no double holds
///   kBest     the largest product, in logarithms
enum class SumKind { kLinear, kLog, kBest };

/// Sums over the ways through one canvas.
class LanguageSums {
 public:
  explicit LanguageSums(std::shared_ptr<const LanguageWays> ways);

  /// The weights of the classes at each position: [L x C], of fixed positions not used; logarithms for kLog and kBest.
  /// There must be a way. False when kLinear has lost all ways to underflow: then take kLog.
  bool Run(SumKind kind, std::span<const double> weights);

  // After Run.

  /// What the ways that go on from `state` after `position` tokens add up to, in logarithms, up to a constant of the
  /// position; -infinity for states that no way passes.
  double LogRest(std::size_t position, std::size_t state) const;

  /// Of each class at `position`, what the ways through it add up to without that position's own weight, in logarithms
  /// up to a constant; -infinity: none. If the ways free what is fixed, for fixed positions too, as if they alone were
  /// free. Not for kBest.
  std::vector<double> LogFactors(std::size_t position) const;

 private:
  template <typename Kind>
  bool RunAs(std::span<const double> weights);
  template <typename Kind>
  void SetWeights(std::size_t position, std::span<const double> weights, std::vector<double>& of_class,
                  std::span<double> of_set) const;
  template <typename Kind>
  void SetFactors(std::size_t position, const double* before);

  std::span<double> BackwardAt(std::size_t position) {
    return std::span(backward_).subspan(position * states_, states_);
  }

  const std::shared_ptr<const LanguageWays> ways_;
  const TokenAutomaton& automaton_;
  const std::size_t states_;
  SumKind kind_ = SumKind::kLinear;
  std::vector<double> backward_;  // [L + 1 x states]
  std::vector<double> factors_;   // [L x C], not logarithms for kLinear
};

}  // namespace punt
