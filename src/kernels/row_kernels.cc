// From a row to a proposal or a divergence, every option honoured.
//
// Most runs want statistics of the plain softmax and either the argmax or a Gumbel-max draw. Those go to the
// fused kernels: one pass, nothing written. Everything else takes the scratch path: the row is tempered into
// scratch (float64), filtered there, and then handed to the same kernels, which treat a dropped token as
// they treat any token at -infinity. So there is one implementation of the statistics, of Gumbel-max and of
// each divergence, and the options only decide which row it sees.
//
// Tested by row_kernels_test.cc; against the naive twins of punt/sampler.h by tests/row_twin_test.cc.
#include "kernels/row_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/row_kernels_tempered.h"
#include "punt/random.h"

namespace punt {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Whether all of it is -infinity, which counts as a row of zeros.
template <typename T>
bool IsFlat(std::span<const T> row, Token top_token) {
  return static_cast<double>(row[static_cast<std::size_t>(top_token)]) == -kInfinity;
}

/// `token` with the probabilities that `stats` gives for `row`.
template <typename T>
Proposal Describe(std::span<const T> row, const RowStats& stats, Position position, Token token) {
  const double logit = IsFlat(row, stats.top_token) ? 0.0 : static_cast<double>(row[static_cast<std::size_t>(token)]);
  return {.position = position,
          .token = token,
          .top_token = stats.top_token,
          .token_prob = std::exp(logit - stats.log_sum_exp),
          .top_prob = std::exp(stats.top - stats.log_sum_exp),
          .second_prob = std::exp(stats.second - stats.log_sum_exp),
          .entropy = stats.entropy};
}

/// The first token at which the running sum of the weights exceeds u times their total.
Token Invert(std::span<const double> weights, double total, double u) {
  const double target = u * total;
  double sum = 0;
  std::size_t last = 0;
  for (std::size_t v = 0; v < weights.size(); ++v) {
    if (weights[v] == 0) continue;
    sum += weights[v];
    last = v;
    if (sum > target) break;
  }
  return static_cast<Token>(last);
}

/// Fills scratch.weights and `scaled` with the tempered and filtered row, and returns the sum of the weights.
/// Temperature 0 leaves the argmax alone.
template <typename T>
double TemperAndFilter(const TemperedRow<T>& in, const RowFilter& filter, RowScratch& scratch,
                       std::vector<double>& scaled) {
  scratch.weights.resize(in.row.size());
  scaled.resize(in.row.size());
  const double total = TemperRow(in, std::span(scaled), std::span(scratch.weights));
  if (total == 0) {  // all at -infinity
    std::fill(scaled.begin(), scaled.end(), 0.0);
    std::fill(scratch.weights.begin(), scratch.weights.end(), 1.0);
    return FilterRow(filter, static_cast<double>(in.row.size()), scratch, scaled);
  }
  return FilterRow(filter, total, scratch, scaled);
}

/// Gumbel-max over the tokens whose weight survived.
template <typename T>
Token DrawKept(std::span<const T> row, double temperature, std::uint64_t stream_name, RowScratch& scratch) {
  const bool flat = IsFlat(row, SummariseRow(row).top_token);
  scratch.other.resize(row.size());
  for (std::size_t v = 0; v < row.size(); ++v) {
    const double logit = flat ? 0.0 : static_cast<double>(row[v]);
    scratch.other[v] = scratch.weights[v] > 0 ? logit : -kInfinity;
  }
  Token drawn = 0;
  SummariseAndDraw<double>(scratch.other, temperature, stream_name, &drawn);
  return drawn;
}

/// The row of a divergence after temperature and nucleus, as logits in `scaled`.
template <typename T>
void PrepareRow(std::span<const T> row, const DivergenceOptions& options, RowScratch& scratch,
                std::vector<double>& scaled) {
  const RowStats stats = SummariseRow(row);
  if (options.temperature > 0) {
    TemperAndFilter<T>({row, stats.top, options.temperature}, {.top_p = options.top_p}, scratch, scaled);
    return;
  }
  scaled.assign(row.size(), -kInfinity);
  scaled[static_cast<std::size_t>(stats.top_token)] = 0;
}

}  // namespace

template <typename T>
Proposal ProposeRow(std::span<const T> row, Position position, const ProposalOptions& options, const StreamKey& key,
                    RowScratch& scratch) {
  const std::uint64_t stream_name = StreamName(key, position, Purpose::kProposal);
  const bool draws = options.temperature > 0;
  const bool filtered = options.top_p < 1 || options.min_p > 0 ||
                        (options.top_k > 0 && static_cast<std::size_t>(options.top_k) < row.size());
  const bool gumbel = options.convention == Convention::kLlada;
  const bool describes_plain =
      options.score_on == ScoreOn::kUntempered || (!filtered && (options.temperature == 0 || options.temperature == 1));
  if (describes_plain && (!draws || (gumbel && !filtered))) {
    Token token = 0;
    const RowStats stats = draws ? SummariseAndDraw(row, options.temperature, stream_name, &token) : SummariseRow(row);
    return Describe(row, stats, position, draws ? token : stats.top_token);
  }

  const RowStats stats = SummariseRow(row);
  const double total = TemperAndFilter<T>({row, stats.top, draws ? options.temperature : 1.0},
                                          {options.top_p, options.top_k, options.min_p}, scratch, scratch.scaled);
  Token token = stats.top_token;
  if (draws && gumbel) token = DrawKept(row, options.temperature, stream_name, scratch);
  if (draws && !gumbel) token = Invert(scratch.weights, total, RandomStream(stream_name).Uniform());
  if (describes_plain) return Describe(row, stats, position, token);
  const std::span<const double> tempered = scratch.scaled;
  return Describe(tempered, SummariseRow(tempered), position, token);
}

template <typename T>
double DivergeRows(std::span<const T> base, std::span<const T> fresh, const DivergenceOptions& options,
                   RowScratch& scratch) {
  if (options.temperature == 1 && options.top_p >= 1) return RowDivergence(base, fresh, options.kind);
  PrepareRow(base, options, scratch, scratch.scaled);
  PrepareRow(fresh, options, scratch, scratch.other);
  return RowDivergence<double>(scratch.scaled, scratch.other, options.kind);
}

template Proposal ProposeRow(std::span<const float>, Position, const ProposalOptions&, const StreamKey&, RowScratch&);
template Proposal ProposeRow(std::span<const double>, Position, const ProposalOptions&, const StreamKey&, RowScratch&);
template double DivergeRows(std::span<const float>, std::span<const float>, const DivergenceOptions&, RowScratch&);
template double DivergeRows(std::span<const double>, std::span<const double>, const DivergenceOptions&, RowScratch&);

}  // namespace punt
