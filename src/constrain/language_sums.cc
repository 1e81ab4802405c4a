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
// Vectors hold all states: what no way passes (language_ways.h) is zero. Loops run over the runs of edges that an
// automaton's states are numbered for (edge_runs.h), and leave out sets that have no weight, which at revealed
// positions are nearly all.
//
// Underflow. Vectors are scaled to a largest entry of 1. What is lost then is smaller than 1e-250 of what is kept,
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
constexpr double kLost =
    1e-250;  // of the largest; what is smaller soon is no normal number, with which processors are slow

// Several at once: one sum waits for its own last addition.
constexpr std::size_t kAtOnce = 8;

double Largest(std::span<const double> values) {
  double tops[kAtOnce] = {};
  const std::size_t whole = values.size() / kAtOnce * kAtOnce;
  for (std::size_t i = 0; i < whole; i += kAtOnce) {
    for (std::size_t u = 0; u < kAtOnce; ++u) tops[u] = tops[u] < values[i + u] ? values[i + u] : tops[u];
  }
  for (std::size_t i = whole; i < values.size(); ++i) tops[0] = std::max(tops[0], values[i]);
  return *std::max_element(tops, tops + kAtOnce);
}

double Product(std::span<const double> a, std::span<const double> b) {
  double sums[kAtOnce] = {};
  const std::size_t whole = a.size() / kAtOnce * kAtOnce;
  for (std::size_t i = 0; i < whole; i += kAtOnce) {
    for (std::size_t u = 0; u < kAtOnce; ++u) sums[u] += a[i + u] * b[i + u];
  }
  for (std::size_t i = whole; i < a.size(); ++i) sums[0] += a[i] * b[i];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

struct Linear {
  static constexpr double kZero = 0;
  static constexpr double kOne = 1;
  static double Plus(double a, double b) { return a + b; }
  static double Times(double a, double b) { return a * b; }
  static double Weight(double weight) { return weight; }
  static double LogOf(double value) { return value > 0 ? std::log(value) : kImpossible; }
  static void Scale(std::span<double> values) {
    const double top = Largest(values);
    if (top <= 0) return;
    const double factor = 1 / top;
    const double least = kLost * top;
    for (double& value : values) {
      const double kept = value < least ? 0 : factor;  // a choice of factors, which vectors can make
      value *= kept;
    }
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
  static void Scale(std::span<double>) {}
};

struct Best : Log {
  static double Plus(double a, double b) { return a < b ? b : a; }
};

/// out[i] = out[i] + weight in[i].
template <typename Kind>
void AddStretch(double weight, const double* in, std::int32_t count, double* out) {
  for (std::int32_t i = 0; i < count; ++i) out[i] = Kind::Plus(out[i], Kind::Times(weight, in[i]));
}

template <typename Kind>
void AddToAll(double what, std::int32_t count, double* out) {
  for (std::int32_t i = 0; i < count; ++i) out[i] = Kind::Plus(out[i], what);
}

/// The sum of value(i), four at once: one sum waits for its own last addition.
template <typename Kind, typename Value>
double SumOf(std::size_t count, const Value& value) {
  double sums[4] = {Kind::kZero, Kind::kZero, Kind::kZero, Kind::kZero};
  const std::size_t whole = count / 4 * 4;
  for (std::size_t i = 0; i < whole; i += 4) {
    for (std::size_t u = 0; u < 4; ++u) sums[u] = Kind::Plus(sums[u], value(i + u));
  }
  for (std::size_t i = whole; i < count; ++i) sums[0] = Kind::Plus(sums[0], value(i));
  return Kind::Plus(Kind::Plus(sums[0], sums[1]), Kind::Plus(sums[2], sums[3]));
}

template <typename Kind>
double SumOf(const double* in, std::int32_t count) {
  return SumOf<Kind>(static_cast<std::size_t>(count), [&](std::size_t i) { return in[i]; });
}

/// before(q) = sum over (q -set-> r) of weight(set) after(r)
template <typename Kind>
void GoBack(const EdgeRuns& runs, std::span<const double> weights, const double* after, double* before) {
  for (std::size_t set = 0; set < runs.sets(); ++set) {
    const double weight = weights[set];
    if (weight == Kind::kZero) continue;
    for (const EdgeRun& run : runs.StretchesOf(set)) {
      AddStretch<Kind>(weight, after + run.to, run.count, before + run.from);
    }
    for (const EdgeRun& run : runs.FansOf(set)) {
      if (after[run.to] == Kind::kZero) continue;
      AddToAll<Kind>(Kind::Times(weight, after[run.to]), run.count, before + run.from);
    }
    for (const EdgeRun& edge : runs.SinglesOf(set)) {
      before[edge.from] = Kind::Plus(before[edge.from], Kind::Times(weight, after[edge.to]));
    }
  }
}

/// after(r) = sum over (q -set-> r) of before(q) weight(set)
template <typename Kind>
void GoOn(const EdgeRuns& runs, std::span<const double> weights, const double* before, double* after) {
  for (std::size_t set = 0; set < runs.sets(); ++set) {
    const double weight = weights[set];
    if (weight == Kind::kZero) continue;
    for (const EdgeRun& run : runs.StretchesOf(set)) {
      AddStretch<Kind>(weight, before + run.from, run.count, after + run.to);
    }
    for (const EdgeRun& run : runs.FansOf(set)) {
      after[run.to] = Kind::Plus(after[run.to], Kind::Times(weight, SumOf<Kind>(before + run.from, run.count)));
    }
    for (const EdgeRun& edge : runs.SinglesOf(set)) {
      after[edge.to] = Kind::Plus(after[edge.to], Kind::Times(weight, before[edge.from]));
    }
  }
}

/// Of states that no way passes.
void Clear(const BitRow& live, double zero, std::span<double> values) {
  for (std::size_t begin = 0; begin < values.size(); begin += 64) {
    const std::uint64_t bits = live.words()[begin / 64];
    if (bits == ~std::uint64_t{0}) continue;
    const std::size_t count = std::min<std::size_t>(64, values.size() - begin);
    if (bits == 0) {
      std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(begin), count, zero);
      continue;
    }
    for (std::size_t i = 0; i < count; ++i) values[begin + i] = (bits >> i) & 1 ? values[begin + i] : zero;
  }
}

}  // namespace

LanguageSums::LanguageSums(std::shared_ptr<const LanguageWays> ways)
    : ways_(std::move(ways)), automaton_(ways_->automaton()), states_(automaton_.states()) {}

template <typename Kind>
void LanguageSums::SetWeights(std::size_t position, std::span<const double> weights, std::vector<double>& of_class,
                              std::span<double> of_set) const {
  const std::int32_t fixed = ways_->fixed(position);
  if (fixed != LanguageWays::kFree) {
    std::fill(of_set.begin(), of_set.end(), Kind::kZero);
    for (std::int32_t set : automaton_.SetsWith(static_cast<std::size_t>(fixed))) {
      of_set[static_cast<std::size_t>(set)] = Kind::kOne;
    }
    return;
  }
  const std::span<const char> possible = ways_->Possible(position);
  of_class.resize(automaton_.classes());
  for (std::size_t c = 0; c < of_class.size(); ++c) {
    of_class[c] = possible[c] ? Kind::Weight(weights[position * automaton_.classes() + c]) : Kind::kZero;
  }
  for (std::size_t set = 0; set < of_set.size(); ++set) {
    const auto members = automaton_.ClassesOf(set);
    of_set[set] =
        SumOf<Kind>(members.size(), [&](std::size_t i) { return of_class[static_cast<std::size_t>(members[i])]; });
  }
}

bool LanguageSums::Run(SumKind kind, std::span<const double> weights) {
  Check(ways_->is_possible(), "sums over no ways at all");
  Check(weights.size() == ways_->length() * automaton_.classes(), "a weight for each class at each position");
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
  const std::size_t length = ways_->length();
  const EdgeRuns& runs = automaton_.runs();
  const std::size_t sets = automaton_.sets();
  std::vector<double> of_sets(length * sets);
  std::vector<double> of_class;
  const auto weights_at = [&](std::size_t position) { return std::span(of_sets).subspan(position * sets, sets); };
  for (std::size_t i = 0; i < length; ++i) SetWeights<Kind>(i, weights, of_class, weights_at(i));

  backward_.assign((length + 1) * states_, Kind::kZero);
  for (std::size_t q = 0; q < states_; ++q) {
    if (automaton_.accepts(q) && ways_->Leading(length)[q]) BackwardAt(length)[q] = Kind::kOne;
  }
  for (std::size_t i = length; i-- > 0;) {
    const std::span<double> before = BackwardAt(i);
    GoBack<Kind>(runs, weights_at(i), BackwardAt(i + 1).data(), before.data());
    Clear(ways_->Leading(i), Kind::kZero, before);
    Kind::Scale(before);
  }
  if (kind_ == SumKind::kBest) return true;

  std::vector<double> before(states_, Kind::kZero), after;
  before[0] = Kind::kOne;
  factors_.assign(length * automaton_.classes(), Kind::kZero);
  for (std::size_t i = 0;; ++i) {
    if (kind_ == SumKind::kLinear && !(Product(before, BackwardAt(i)) > kLeastProduct)) return false;
    if (i == length) return true;
    SetFactors<Kind>(i, before.data());
    after.assign(states_, Kind::kZero);
    GoOn<Kind>(runs, weights_at(i), before.data(), after.data());
    Clear(ways_->Reached(i + 1), Kind::kZero, after);
    Kind::Scale(after);
    before.swap(after);
  }
}

double LanguageSums::LogRest(std::size_t position, std::size_t state) const {
  const double value = backward_[position * states_ + state];
  return kind_ == SumKind::kLinear ? Linear::LogOf(value) : value;
}

template <typename Kind>
void LanguageSums::SetFactors(std::size_t position, const double* before) {
  const EdgeRuns& runs = automaton_.runs();
  const double* after = BackwardAt(position + 1).data();
  double* factors = factors_.data() + position * automaton_.classes();
  for (std::size_t set = 0; set < runs.sets(); ++set) {
    double through = Kind::kZero;
    for (const EdgeRun& run : runs.StretchesOf(set)) {
      const double* from = before + run.from;
      const double* to = after + run.to;
      through = Kind::Plus(through, SumOf<Kind>(static_cast<std::size_t>(run.count),
                                                [&](std::size_t i) { return Kind::Times(from[i], to[i]); }));
    }
    for (const EdgeRun& run : runs.FansOf(set)) {
      through = Kind::Plus(through, Kind::Times(after[run.to], SumOf<Kind>(before + run.from, run.count)));
    }
    for (const EdgeRun& edge : runs.SinglesOf(set)) {
      through = Kind::Plus(through, Kind::Times(before[edge.from], after[edge.to]));
    }
    if (through == Kind::kZero) continue;
    for (std::int32_t own : automaton_.ClassesOf(set)) factors[own] = Kind::Plus(factors[own], through);
  }
}

std::vector<double> LanguageSums::LogFactors(std::size_t position) const {
  Check(kind_ != SumKind::kBest, "factors of best ways");
  const auto begin = factors_.begin() + static_cast<std::ptrdiff_t>(position * automaton_.classes());
  std::vector<double> factors(begin, begin + static_cast<std::ptrdiff_t>(automaton_.classes()));
  if (kind_ == SumKind::kLinear) {
    for (double& factor : factors) factor = Linear::LogOf(factor);
  }
  return factors;
}

}  // namespace punt
