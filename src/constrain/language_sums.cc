// Forward-backward (Baum, Petrie, Soules and Weiss 1970) over a canvas whose positions are independent and whose tokens
// an automaton restricts. With p_i(c) the probability of class c at position i:
//
//   backward_L(q) = 1 if q accepts        backward_i(q) = sum over (q -c-> r) of p_i(c) backward_{i+1}(r)
//   forward_0(start) = 1                  forward_{i+1}(r) = sum over (q -c-> r) of forward_i(q) p_i(c)
//   factor_i(c) = sum over (q -c-> r) of forward_i(q) backward_{i+1}(r)
//
// so that p_i(c) factor_i(c) is proportional to the probability that position i has class c given that the canvas is in
// the language. Revealed positions have one class with weight 1; the factor leaves their own weight out, and so also
// says what could stand there instead.
//
// The states that any way passes are found first, with nothing but zeros and ones: a way exists or does not, whatever
// the model's probabilities. Only these states are summed over, which is what keeps long canvases cheap: near the
// beginning and the end there are few. (Where something else might stand at a revealed position, other ways count.)
//
// Underflow. Vectors are scaled to a largest entry of 1. What is lost then is smaller than 1e-300 of what is kept,
// unless the ways that are kept by the forward sums are those that the backward sums lose; the products at each
// position show that, and the sums are then taken in logarithms. A token that the model gives probability 0 counts as
// e^-10000 there, so that a canvas always has a completion if the language has one.
//
// Tested by language_sums_test.cc against sums over all strings.
#include "constrain/language_sums.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace punt {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();
constexpr double kLeastProduct = 1e-200;

struct Linear {
  static constexpr double kZero = 0;
  static constexpr double kOne = 1;
  static double Plus(double a, double b) { return a + b; }
  static double Times(double a, double b) { return a * b; }
  static double Weight(double weight) { return weight; }
  static double LogOf(double value) { return value > 0 ? std::log(value) : kImpossible; }
  static void Scale(std::vector<double>& values) {
    double top = 0;
    for (double value : values) top = std::max(top, value);
    if (top <= 0) return;
    for (double& value : values) value /= top;
  }
};

struct Log {
  static constexpr double kZero = kImpossible;
  static constexpr double kOne = 0;
  static double Plus(double a, double b) {
    const double high = std::max(a, b);
    return high == kImpossible ? high : high + std::log1p(std::exp(std::min(a, b) - high));
  }
  static double Times(double a, double b) { return a + b; }
  static double Weight(double weight) { return std::max(weight, kImprobable); }
  static double LogOf(double value) { return value; }
  static void Scale(std::vector<double>&) {}
};

struct Best : Log {
  static double Plus(double a, double b) { return std::max(a, b); }
};

}  // namespace

LanguageSums::LanguageSums(const TokenAutomaton& automaton, std::span<const std::int32_t> fixed, bool frees_fixed)
    : automaton_(automaton), fixed_(fixed.begin(), fixed.end()) {
  FindLive(frees_fixed);
}

void LanguageSums::FindLive(bool frees_fixed) {
  const std::size_t length = fixed_.size();
  const std::size_t states = automaton_.states();
  std::vector<std::vector<char>> reached(length + 1, std::vector<char>(states, 0));
  reached[0][0] = 1;
  std::vector<char> has(automaton_.sets(), 1);  // sets that lead on at a position
  const auto look_at = [&](std::size_t position) {
    const bool is_fixed = fixed_[position] != kFree;
    std::fill(has.begin(), has.end(), is_fixed ? 0 : 1);
    if (fixed_[position] < 0) return;
    for (std::int32_t set : automaton_.SetsWith(static_cast<std::size_t>(fixed_[position]))) {
      has[static_cast<std::size_t>(set)] = 1;
    }
  };
  for (std::size_t i = 0; i < length; ++i) {
    look_at(i);
    for (std::size_t q = 0; q < states; ++q) {
      if (!reached[i][q]) continue;
      for (const TokenAutomaton::Edge& edge : automaton_.EdgesOf(q)) {
        if (has[static_cast<std::size_t>(edge.set)]) reached[i + 1][static_cast<std::size_t>(edge.to)] = 1;
      }
    }
  }
  reached_.resize(length + 1);
  leading_.resize(length + 1);
  possible_.assign(length * automaton_.classes(), frees_fixed ? 1 : 0);
  std::vector<char> leads(states, 0), leads_before(states, 0);
  for (std::size_t q = 0; q < states; ++q) leads[q] = automaton_.accepts(q);
  const auto list = [&](std::size_t position) {
    for (std::size_t q = 0; q < states; ++q) {
      const auto state = static_cast<std::int32_t>(q);
      const bool is_on_a_way = reached[position][q] && leads[q];
      if (frees_fixed ? reached[position][q] != 0 : is_on_a_way) reached_[position].push_back(state);
      if (frees_fixed ? leads[q] != 0 : is_on_a_way) leading_[position].push_back(state);
    }
  };
  list(length);
  std::vector<char> is_used(automaton_.sets(), 0);
  for (std::size_t i = length; i-- > 0;) {
    look_at(i);
    std::fill(is_used.begin(), is_used.end(), 0);
    for (std::size_t q = 0; q < states; ++q) {
      leads_before[q] = 0;
      if (!frees_fixed && !reached[i][q]) continue;
      for (const TokenAutomaton::Edge& edge : automaton_.EdgesOf(q)) {
        if (!has[static_cast<std::size_t>(edge.set)] || !leads[static_cast<std::size_t>(edge.to)]) continue;
        leads_before[q] = 1;
        is_used[static_cast<std::size_t>(edge.set)] = 1;
      }
    }
    leads.swap(leads_before);
    list(i);
    for (std::size_t set = 0; set < is_used.size(); ++set) {
      if (!is_used[set]) continue;
      for (std::int32_t own : automaton_.ClassesOf(set)) {
        possible_[i * automaton_.classes() + static_cast<std::size_t>(own)] = 1;
      }
    }
  }
  is_possible_ = leads[0] != 0;
}

template <typename Kind>
void LanguageSums::SetWeights(std::size_t position, std::span<const double> weights,
                              std::vector<double>& of_set) const {
  if (fixed_[position] != kFree) {
    std::fill(of_set.begin(), of_set.end(), Kind::kZero);
    for (std::int32_t set : automaton_.SetsWith(static_cast<std::size_t>(fixed_[position]))) {
      of_set[static_cast<std::size_t>(set)] = Kind::kOne;
    }
    return;
  }
  const auto row = weights.subspan(position * automaton_.classes(), automaton_.classes());
  const std::span<const char> possible = Possible(position);
  for (std::size_t set = 0; set < of_set.size(); ++set) {
    double sum = Kind::kZero;
    for (std::int32_t own : automaton_.ClassesOf(set)) {
      const auto c = static_cast<std::size_t>(own);
      if (possible[c]) sum = Kind::Plus(sum, Kind::Weight(row[c]));
    }
    of_set[set] = sum;
  }
}

bool LanguageSums::Run(SumKind kind, std::span<const double> weights) {
  Check(is_possible(), "sums over no ways at all");
  Check(weights.size() == length() * automaton_.classes(), "a weight for each class at each position");
  kind_ = kind;
  switch (kind) {
    case SumKind::kLinear:
      return RunAs<Linear>(weights);
    case SumKind::kLog:
      return RunAs<Log>(weights);
    case SumKind::kBest:
      return RunAs<Best>(weights);
  }
  throw std::logic_error("SumKind");
}

template <typename Kind>
bool LanguageSums::RunAs(std::span<const double> weights) {
  const std::size_t length = fixed_.size();
  std::vector<std::vector<double>> of_sets(length, std::vector<double>(automaton_.sets()));
  for (std::size_t i = 0; i < length; ++i) SetWeights<Kind>(i, weights, of_sets[i]);

  std::vector<double> value(automaton_.states(), Kind::kZero);  // of the states of the position before or after
  backward_.assign(length + 1, {});
  for (std::int32_t q : leading_[length]) {
    backward_[length].push_back(automaton_.accepts(static_cast<std::size_t>(q)) ? Kind::kOne : Kind::kZero);
  }
  for (std::size_t i = length; i-- > 0;) {
    for (std::size_t k = 0; k < leading_[i + 1].size(); ++k) {
      value[static_cast<std::size_t>(leading_[i + 1][k])] = backward_[i + 1][k];
    }
    for (std::int32_t q : leading_[i]) {
      double sum = Kind::kZero;
      for (const TokenAutomaton::Edge& edge : automaton_.EdgesOf(static_cast<std::size_t>(q))) {
        const double rest = value[static_cast<std::size_t>(edge.to)];
        if (rest == Kind::kZero) continue;
        sum = Kind::Plus(sum, Kind::Times(of_sets[i][static_cast<std::size_t>(edge.set)], rest));
      }
      backward_[i].push_back(sum);
    }
    Kind::Scale(backward_[i]);
    for (std::int32_t q : leading_[i + 1]) value[static_cast<std::size_t>(q)] = Kind::kZero;
  }

  forward_.assign(length + 1, {});
  forward_[0].assign(1, Kind::kOne);
  for (std::size_t i = 0; i < length; ++i) {
    for (std::size_t k = 0; k < reached_[i].size(); ++k) {
      if (forward_[i][k] == Kind::kZero) continue;
      for (const TokenAutomaton::Edge& edge : automaton_.EdgesOf(static_cast<std::size_t>(reached_[i][k]))) {
        double& to = value[static_cast<std::size_t>(edge.to)];
        to = Kind::Plus(to, Kind::Times(forward_[i][k], of_sets[i][static_cast<std::size_t>(edge.set)]));
      }
    }
    for (std::int32_t q : reached_[i + 1]) forward_[i + 1].push_back(value[static_cast<std::size_t>(q)]);
    std::fill(value.begin(), value.end(), Kind::kZero);
    Kind::Scale(forward_[i + 1]);
  }
  if (kind_ != SumKind::kLinear) return true;
  for (std::size_t i = 0; i <= length; ++i) {
    double through = 0;
    for (std::size_t k = 0; k < reached_[i].size(); ++k)
      value[static_cast<std::size_t>(reached_[i][k])] = forward_[i][k];
    for (std::size_t k = 0; k < leading_[i].size(); ++k) {
      through += value[static_cast<std::size_t>(leading_[i][k])] * backward_[i][k];
    }
    for (std::int32_t q : reached_[i]) value[static_cast<std::size_t>(q)] = Kind::kZero;
    if (!(through > kLeastProduct)) return false;
  }
  return true;
}

double LanguageSums::LogRest(std::size_t position, std::size_t state) const {
  const auto& live = leading_[position];
  const auto found = std::lower_bound(live.begin(), live.end(), static_cast<std::int32_t>(state));
  if (found == live.end() || *found != static_cast<std::int32_t>(state)) return kImpossible;
  const double value = backward_[position][static_cast<std::size_t>(found - live.begin())];
  return kind_ == SumKind::kLinear ? Linear::LogOf(value) : value;
}

template <typename Kind>
std::vector<double> LanguageSums::FactorsAs(std::size_t position) const {
  std::vector<double> rest(automaton_.states(), Kind::kZero);
  for (std::size_t k = 0; k < leading_[position + 1].size(); ++k) {
    rest[static_cast<std::size_t>(leading_[position + 1][k])] = backward_[position + 1][k];
  }
  std::vector<double> of_set(automaton_.sets(), Kind::kZero);
  for (std::size_t k = 0; k < reached_[position].size(); ++k) {
    for (const TokenAutomaton::Edge& edge : automaton_.EdgesOf(static_cast<std::size_t>(reached_[position][k]))) {
      double& through = of_set[static_cast<std::size_t>(edge.set)];
      through = Kind::Plus(through, Kind::Times(forward_[position][k], rest[static_cast<std::size_t>(edge.to)]));
    }
  }
  std::vector<double> factors(automaton_.classes(), Kind::kZero);
  for (std::size_t set = 0; set < of_set.size(); ++set) {
    if (of_set[set] == Kind::kZero) continue;
    for (std::int32_t own : automaton_.ClassesOf(set)) {
      double& factor = factors[static_cast<std::size_t>(own)];
      factor = Kind::Plus(factor, of_set[set]);
    }
  }
  for (double& factor : factors) factor = Kind::LogOf(factor);
  return factors;
}

std::vector<double> LanguageSums::LogFactors(std::size_t position) const {
  Check(kind_ != SumKind::kBest, "factors of best ways");
  return kind_ == SumKind::kLinear ? FactorsAs<Linear>(position) : FactorsAs<Log>(position);
}

}  // namespace punt
