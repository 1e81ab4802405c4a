// Sums over all ways to fill a canvas within a language: the forward-backward algorithm on a token automaton.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "constrain/token_automaton.h"

namespace punt {

/// The logarithm of what the model gives probability 0 and the language may need, in sums in logarithms.
inline constexpr double kImprobable = -10'000;

/// How sums are taken.
///   kLinear   sums of products, scaled at each position
///   kLog      the same in logarithms: slower, for products that no double holds
///   kBest     the largest product, in logarithms
enum class SumKind { kLinear, kLog, kBest };

/// The ways through one canvas. The automaton must outlive it.
class LanguageSums {
 public:
  static constexpr std::int32_t kFree = -2;

  /// Of each position the class of its token, or kFree. Impossible tokens have class -1. `frees_fixed`: factors of
  /// fixed positions will be asked for, which takes more states.
  LanguageSums(const TokenAutomaton& automaton, std::span<const std::int32_t> fixed, bool frees_fixed = false);

  std::size_t length() const { return fixed_.size(); }
  bool is_free(std::size_t position) const { return fixed_[position] == kFree; }
  /// Whether there is a way at all. Everything below needs one.
  bool is_possible() const { return is_possible_; }
  /// By class: whether such a token may stand at a free position. With frees_fixed all may, because other tokens may
  /// stand where some are fixed.
  std::span<const char> Possible(std::size_t position) const {
    return std::span(possible_).subspan(position * automaton_.classes(), automaton_.classes());
  }

  /// The weights of the classes at each position: [L x C], of fixed positions not used; logarithms for kLog and kBest.
  /// False when kLinear has lost all ways to underflow: then take kLog.
  bool Run(SumKind kind, std::span<const double> weights);

  // After Run.

  /// What the ways that go on from `state` after `position` tokens add up to, in logarithms, up to a constant of the
  /// position; -infinity for states that no way passes.
  double LogRest(std::size_t position, std::size_t state) const;

  /// Of each class at `position`, what the ways through it add up to without that position's own weight, in logarithms
  /// up to a constant; -infinity: none. For fixed positions too (see above), as if they alone were free. Not for kBest.
  std::vector<double> LogFactors(std::size_t position) const;

 private:
  template <typename Kind>
  bool RunAs(std::span<const double> weights);
  template <typename Kind>
  void SetWeights(std::size_t position, std::span<const double> weights, std::vector<double>& of_set) const;
  template <typename Kind>
  std::vector<double> FactorsAs(std::size_t position) const;
  void FindLive(bool frees_fixed);

  const TokenAutomaton& automaton_;
  std::vector<std::int32_t> fixed_;
  bool is_possible_ = false;
  using Lists = std::vector<std::vector<std::int32_t>>;  // [L + 1], ascending
  Lists reached_;                                        // states that are reached, and pass on unless frees_fixed
  Lists leading_;                                        // states that lead on, and are reached unless frees_fixed
  std::vector<char> possible_;                           // [L x C]
  SumKind kind_ = SumKind::kLinear;
  std::vector<std::vector<double>> forward_;   // of the states in reached_
  std::vector<std::vector<double>> backward_;  // of those in leading_
};

}  // namespace punt
