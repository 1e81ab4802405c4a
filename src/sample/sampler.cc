// The naive twins of the row kernels, and the names of the sampler's options.
//
// Everything here is as plain as it can be: rows are copied, exponentiated with libm in long double, sorted
// whole, and looped over token by token. What it shares with the kernels of kernels/row_kernels.h is the
// definition (the order of temperature and filters; ties by lower token; the slack of the nucleus; a
// row that is -infinity throughout is uniform) and the keyed random numbers, so that a draw here and a draw
// there give the same token, and do not merely follow the same law:
//
//   llada   argmax over the kept tokens of l_v + T g_v, g_v the token's own Gumbel
//   dream   the first kept token, in token order, at which the running sum of the weights exceeds u times
//           their total
//
// Enumeration sums over ProposalLaw; tests compare sessions with the other two. Nothing here is on a fast path.
//
// Decided where the field leaves it open: temperature 0 proposes the argmax whatever the filters, and a
// proposal that is scored on the tempered row is then scored on the untempered one after filters; a divergence
// at temperature 0 compares the two argmaxes; a KL is infinite exactly when some token is possible in its
// first row and impossible (-infinity) in its second.
//
// Tested by sampler_test.cc; the agreement with the kernels by tests/row_twin_test.cc.
#include "punt/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "punt/random.h"

namespace punt {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Weights = std::vector<long double>;

std::vector<double> LogitsOf(std::span<const double> row) {
  std::vector<double> logits(row.begin(), row.end());
  const bool flat = std::all_of(logits.begin(), logits.end(), [](double logit) { return logit == -kInfinity; });
  if (flat) std::fill(logits.begin(), logits.end(), 0.0);
  return logits;
}

std::size_t ArgMax(std::span<const double> row) {
  return static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
}

long double Sum(const Weights& weights) { return std::accumulate(weights.begin(), weights.end(), 0.0L); }

Weights Normalised(Weights weights) {
  const long double total = Sum(weights);
  for (long double& weight : weights) weight /= total;
  return weights;
}

/// exp((l - max) / T).
Weights Tempered(std::span<const double> logits, double temperature) {
  const double top = logits[ArgMax(logits)];
  Weights weights;
  for (double logit : logits) weights.push_back(std::exp((static_cast<long double>(logit) - top) / temperature));
  return weights;
}

/// Nucleus, top-k and min-p, each on the whole row: dropped tokens get weight 0. Ordered by logit, because distinct
/// logits may have equal weights.
void Filter(std::span<const double> logits, const ProposalOptions& options, Weights& weights) {
  const double top_p = options.top_p;
  const int top_k = options.top_k;
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });
  const long double bound = Sum(weights) * top_p * (1 + static_cast<long double>(kNucleusSlack));
  const long double lightest =
      *std::max_element(weights.begin(), weights.end()) * options.min_p * (1 - static_cast<long double>(kNucleusSlack));
  long double before = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    long double& weight = weights[order[rank]];
    const bool outside_nucleus = top_p < 1 && before > bound;
    const bool outside_top_k = top_k > 0 && rank >= static_cast<std::size_t>(top_k);
    before += weight;
    if (outside_nucleus || outside_top_k || weight < lightest) weight = 0;
  }
}

Token DrawByGumbel(std::span<const double> logits, const Weights& kept, double temperature, std::uint64_t stream_name) {
  Token drawn = 0;
  double best = -kInfinity;
  for (std::size_t v = 0; v < logits.size(); ++v) {
    if (kept[v] == 0) continue;
    const double value = logits[v] + temperature * TokenGumbel(stream_name, static_cast<Token>(v));
    if (value > best) {
      best = value;
      drawn = static_cast<Token>(v);
    }
  }
  return drawn;
}

Token DrawByInversion(const Weights& kept, std::uint64_t stream_name) {
  const long double target = RandomStream(stream_name).Uniform() * Sum(kept);
  long double sum = 0;
  Token drawn = 0;
  for (std::size_t v = 0; v < kept.size(); ++v) {
    if (kept[v] == 0) continue;
    sum += kept[v];
    drawn = static_cast<Token>(v);
    if (sum > target) break;
  }
  return drawn;
}

long double Entropy(const Weights& probabilities) {
  long double entropy = 0;
  for (long double p : probabilities) {
    if (p > 0) entropy -= p * std::log(p);
  }
  return entropy;
}

/// ln of softmax(row / T) after the nucleus; -infinity where a token is impossible.
Weights ComparedRow(std::span<const double> row, const DivergenceOptions& options) {
  const std::vector<double> logits = LogitsOf(row);
  const std::size_t top = ArgMax(logits);
  Weights weights(logits.size(), 0.0L);
  if (options.temperature > 0) {
    weights = Tempered(logits, options.temperature);
    Filter(logits, {.top_p = options.top_p}, weights);
  } else {
    weights[top] = 1;
  }
  const long double log_total = std::log(Sum(weights));
  const long double temperature = options.temperature > 0 ? options.temperature : 1;
  const bool filtered = options.temperature == 0 || options.top_p < 1;
  for (std::size_t v = 0; v < weights.size(); ++v) {
    const long double scaled = (static_cast<long double>(logits[v]) - logits[top]) / temperature;
    weights[v] = filtered && weights[v] == 0 ? -kInfinity : scaled - log_total;
  }
  return weights;
}

long double KlOfLogs(const Weights& p, const Weights& q) {
  long double sum = 0;
  for (std::size_t v = 0; v < p.size(); ++v) {
    if (p[v] == -kInfinity) continue;
    if (q[v] == -kInfinity) return kInfinity;
    sum += std::exp(p[v]) * (p[v] - q[v]);
  }
  return sum;
}

/// ln((e^p + e^q) / 2).
Weights MixtureOfLogs(const Weights& p, const Weights& q) {
  Weights mixture(p.size());
  for (std::size_t v = 0; v < p.size(); ++v) {
    const long double high = std::max(p[v], q[v]);
    mixture[v] = high == -kInfinity ? high : high + std::log((std::exp(p[v] - high) + std::exp(q[v] - high)) / 2);
  }
  return mixture;
}

template <typename Enum>
Enum ParseByName(std::string_view text, std::string_view what, std::initializer_list<Enum> values) {
  std::vector<std::string_view> names;
  for (Enum value : values) {
    if (Name(value) == text) return value;
    names.push_back(Name(value));
  }
  std::string list;
  for (std::string_view name : names) list += (list.empty() ? "" : ", ") + std::string(name);
  BadInput("{} must be one of {}, got '{}'", what, list, text);
}

}  // namespace

void Validate(const ProposalOptions& options) {
  if (!(options.temperature >= 0) || !std::isfinite(options.temperature)) {
    BadInput("temperature must be a finite number of at least 0, got {}", options.temperature);
  }
  if (!(options.top_p > 0 && options.top_p <= 1))
    BadInput("top_p must be above 0 and at most 1, got {}", options.top_p);
  if (!(options.min_p >= 0 && options.min_p <= 1))
    BadInput("min_p must be at least 0 and at most 1, got {}", options.min_p);
  if (options.top_k < 0) BadInput("top_k must be at least 0, got {}", options.top_k);
}

std::string_view Name(Divergence divergence) {
  switch (divergence) {
    case Divergence::kKlBaseNew:
      return "kl-base-new";
    case Divergence::kKlNewBase:
      return "kl-new-base";
    case Divergence::kJs:
      return "js";
    case Divergence::kTv:
      return "tv";
  }
  throw std::logic_error("Divergence");
}

std::string_view Name(Convention convention) {
  switch (convention) {
    case Convention::kLlada:
      return "llada";
    case Convention::kDream:
      return "dream";
  }
  throw std::logic_error("Convention");
}

std::string_view Name(ScoreOn score_on) {
  switch (score_on) {
    case ScoreOn::kUntempered:
      return "untempered";
    case ScoreOn::kTempered:
      return "tempered";
  }
  throw std::logic_error("ScoreOn");
}

Convention ParseConvention(std::string_view name) {
  return ParseByName(name, "convention", {Convention::kLlada, Convention::kDream});
}

ScoreOn ParseScoreOn(std::string_view name) {
  return ParseByName(name, "score_on", {ScoreOn::kUntempered, ScoreOn::kTempered});
}

Proposal ProposeFromRow(std::span<const double> log_probs, Position position, const ProposalOptions& options,
                        const StreamKey& key) {
  Check(!log_probs.empty(), "a proposal from an empty row");
  const std::vector<double> logits = LogitsOf(log_probs);
  const std::uint64_t stream_name = StreamName(key, position, Purpose::kProposal);
  const bool draws = options.temperature > 0;
  const std::size_t top = ArgMax(logits);

  Weights kept = Tempered(logits, draws ? options.temperature : 1.0);
  Filter(logits, options, kept);
  Proposal proposal{.position = position, .token = static_cast<Token>(top), .top_token = static_cast<Token>(top)};
  if (draws) {
    proposal.token = options.convention == Convention::kLlada
                         ? DrawByGumbel(logits, kept, options.temperature, stream_name)
                         : DrawByInversion(kept, stream_name);
  }

  const Weights described =
      Normalised(options.score_on == ScoreOn::kTempered ? std::move(kept) : Tempered(logits, 1.0));
  Weights sorted = described;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  proposal.token_prob = static_cast<double>(described[static_cast<std::size_t>(proposal.token)]);
  proposal.top_prob = static_cast<double>(sorted[0]);
  proposal.second_prob = sorted.size() > 1 ? static_cast<double>(sorted[1]) : 0.0;
  proposal.entropy = static_cast<double>(Entropy(described));
  return proposal;
}

double DivergenceOfRows(std::span<const double> base, std::span<const double> fresh, const DivergenceOptions& options) {
  Check(!base.empty() && base.size() == fresh.size(), "a divergence of rows of different lengths");
  const Weights p = ComparedRow(base, options);
  const Weights q = ComparedRow(fresh, options);
  long double result = 0;
  switch (options.kind) {
    case Divergence::kKlBaseNew:
      result = KlOfLogs(p, q);
      break;
    case Divergence::kKlNewBase:
      result = KlOfLogs(q, p);
      break;
    case Divergence::kJs: {
      const Weights mixture = MixtureOfLogs(p, q);
      result = (KlOfLogs(p, mixture) + KlOfLogs(q, mixture)) / 2;
      break;
    }
    case Divergence::kTv:
      for (std::size_t v = 0; v < p.size(); ++v) result += std::abs(std::exp(p[v]) - std::exp(q[v])) / 2;
      break;
  }
  return std::max(0.0, static_cast<double>(result));
}

std::vector<double> ProposalLaw(std::span<const double> log_probs, const ProposalOptions& options) {
  Check(!log_probs.empty(), "the law of an empty row");
  const std::vector<double> logits = LogitsOf(log_probs);
  if (options.temperature == 0) {
    std::vector<double> law(logits.size(), 0.0);
    law[ArgMax(logits)] = 1;
    return law;
  }
  Weights kept = Tempered(logits, options.temperature);
  Filter(logits, options, kept);
  std::vector<double> law;
  for (long double p : Normalised(std::move(kept))) law.push_back(static_cast<double>(p));
  return law;
}

}  // namespace punt
