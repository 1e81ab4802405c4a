#include "rows.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/check.h"
#include "convert.h"
#include "kernels/row_kernels.h"
#include "punt/random.h"

namespace punt::py {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Names = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Positions = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Rows = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::object StreamNames(std::uint64_t seed, std::uint64_t sample, std::uint64_t step, const Positions& positions,
                       std::uint64_t purpose) {
  std::vector<std::uint64_t> names;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    names.push_back(StreamName({seed, sample, step}, positions.data()[i], static_cast<Purpose>(purpose)));
  }
  const std::size_t count = names.size();
  return NewArray(std::move(names), {count});
}

nb::object Uniforms(const Names& names, std::size_t count) {
  std::vector<double> drawn;
  for (std::size_t i = 0; i < names.size(); ++i) {
    RandomStream stream(names.data()[i]);
    for (std::size_t n = 0; n < count; ++n) drawn.push_back(stream.Uniform());
  }
  return NewArray(std::move(drawn), {names.size(), count});
}

template <double (*kDraw)(std::uint64_t, Token)>
nb::object OfTokens(const Names& names, Token begin, Token end) {
  if (begin < 0 || end < begin) BadInput("no range of tokens: {} to {}", begin, end);
  std::vector<double> drawn;
  {
    nb::gil_scoped_release release;
    drawn.reserve(names.size() * static_cast<std::size_t>(end - begin));
    for (std::size_t i = 0; i < names.size(); ++i) {
      for (Token token = begin; token < end; ++token) drawn.push_back(kDraw(names.data()[i], token));
    }
  }
  return NewArray(std::move(drawn), {names.size(), static_cast<std::size_t>(end - begin)});
}

/// A copy of a row in which banned tokens are impossible; one that leaves nothing is uniform over the others.
template <typename T>
void Allow(const T* from, std::size_t vocab, const std::vector<Token>& banned, std::vector<T>& row) {
  row.assign(from, from + vocab);
  for (Token token : banned) row.at(static_cast<std::size_t>(token)) = static_cast<T>(-kInfinity);
  bool is_flat = true;
  for (T value : row) {
    if (std::isnan(value) || value == static_cast<T>(kInfinity)) BadInput("a row of the model holds {}", value);
    is_flat = is_flat && value == static_cast<T>(-kInfinity);
  }
  if (!is_flat) return;
  std::fill(row.begin(), row.end(), T{0});
  for (Token token : banned) row[static_cast<std::size_t>(token)] = static_cast<T>(-kInfinity);
}

template <typename T>
nb::object Propose(const Rows<T>& rows, const Positions& positions, const std::vector<Token>& banned,
                   const std::string& convention, double temperature, double top_p, int top_k, double min_p,
                   const std::string& score_on, std::uint64_t seed, std::uint64_t sample, std::uint64_t step) {
  const ProposalOptions options{.convention = ParseConvention(convention),
                                .temperature = temperature,
                                .top_p = top_p,
                                .top_k = top_k,
                                .min_p = min_p,
                                .score_on = ParseScoreOn(score_on)};
  Validate(options);
  const std::size_t count = positions.size(), vocab = rows.shape(1);
  if (rows.shape(0) != count) BadInput("{} rows for {} positions", rows.shape(0), count);
  std::vector<Token> tokens, tops;
  std::vector<double> token_probs, top_probs, second_probs, entropies;
  {
    nb::gil_scoped_release release;
    RowScratch scratch;
    std::vector<T> row;
    for (std::size_t i = 0; i < count; ++i) {
      Allow(rows.data() + i * vocab, vocab, banned, row);
      const Proposal proposal = ProposeRow<T>(row, positions.data()[i], options, {seed, sample, step}, scratch);
      tokens.push_back(proposal.token);
      tops.push_back(proposal.top_token);
      token_probs.push_back(proposal.token_prob);
      top_probs.push_back(proposal.top_prob);
      second_probs.push_back(proposal.second_prob);
      entropies.push_back(proposal.entropy);
    }
  }
  return nb::make_tuple(NewArray(std::move(tokens), {count}), NewArray(std::move(tops), {count}),
                        NewArray(std::move(token_probs), {count}), NewArray(std::move(top_probs), {count}),
                        NewArray(std::move(second_probs), {count}), NewArray(std::move(entropies), {count}));
}

template <typename T>
nb::object Diverge(const Rows<T>& base, const Rows<T>& fresh, const std::vector<Token>& banned, const std::string& kind,
                   double temperature, double top_p) {
  DivergenceOptions options{.temperature = temperature, .top_p = top_p};
  bool is_known = false;
  for (Divergence divergence : {Divergence::kKlBaseNew, Divergence::kKlNewBase, Divergence::kJs, Divergence::kTv}) {
    if (Name(divergence) != kind) continue;
    options.kind = divergence;
    is_known = true;
  }
  if (!is_known) BadInput("no divergence: '{}'", kind);
  const std::size_t count = base.shape(0), vocab = base.shape(1);
  if (fresh.shape(0) != count || fresh.shape(1) != vocab) BadInput("a divergence of rows of different shapes");
  std::vector<double> values;
  {
    nb::gil_scoped_release release;
    RowScratch scratch;
    std::vector<T> a, b;
    for (std::size_t i = 0; i < count; ++i) {
      Allow(base.data() + i * vocab, vocab, banned, a);
      Allow(fresh.data() + i * vocab, vocab, banned, b);
      values.push_back(DivergeRows<T>(a, b, options, scratch));
    }
  }
  return NewArray(std::move(values), {count});
}

template <typename T>
nb::object TokenProbs(const Rows<T>& rows, const Positions& tokens, const std::vector<Token>& banned) {
  const std::size_t count = rows.shape(0), vocab = rows.shape(1);
  if (tokens.size() != count) BadInput("{} rows for {} tokens", count, tokens.size());
  std::vector<T> row;
  std::vector<double> probs;
  for (std::size_t i = 0; i < count; ++i) {
    Allow(rows.data() + i * vocab, vocab, banned, row);
    probs.push_back(std::exp(static_cast<double>(row.at(static_cast<std::size_t>(tokens.data()[i]))) -
                             SummariseRow<T>(row).log_sum_exp));
  }
  return NewArray(std::move(probs), {count});
}

template <typename T>
void BindKernels(nb::module_& module) {
  module.def("propose_rows", &Propose<T>, nb::arg("rows").noconvert(), nb::arg("positions"), nb::arg("banned"),
             nb::arg("convention"), nb::arg("temperature"), nb::arg("top_p"), nb::arg("top_k"), nb::arg("min_p"),
             nb::arg("score_on"), nb::arg("seed"), nb::arg("sample"), nb::arg("step"));
  module.def("diverge_rows", &Diverge<T>, nb::arg("base").noconvert(), nb::arg("fresh").noconvert(), nb::arg("banned"),
             nb::arg("kind"), nb::arg("temperature"), nb::arg("top_p"));
  module.def("token_probs", &TokenProbs<T>, nb::arg("rows").noconvert(), nb::arg("tokens"), nb::arg("banned"));
}

}  // namespace

void BindRows(nb::module_& module) {
  module.def("stream_names", &StreamNames);
  module.def("uniforms", &Uniforms);
  module.def("token_uniforms", &OfTokens<&TokenUniform>);
  module.def("token_gumbels", &OfTokens<&TokenGumbel>);
  BindKernels<float>(module);
  BindKernels<double>(module);
}

}  // namespace punt::py
