// Reductions of one row of the vocabulary: the inner loops of planning. Each reads its row once from
// memory (blocks of it twice from cache), allocates nothing, and is vectorised for the machine it runs on.
//
// A row is V logits: any real numbers, or -infinity for tokens that cannot occur. Rows need not be
// normalised. A row that is -infinity throughout counts as uniform over all V tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "punt/sampler.h"
#include "punt/types.h"

namespace punt {

/// What one pass over a row finds.
struct RowStats {
  double log_sum_exp = 0;
  double entropy = 0;  // nats, of softmax(row)
  double top = 0;      // largest logit, at top_token (lowest on ties)
  double second = 0;   // second largest; -infinity when V = 1
  Token top_token = 0;
};

template <typename T>
RowStats SummariseRow(std::span<const T> row);

/// As SummariseRow, and draws argmax_v row_v + temperature * TokenGumbel(stream_name, v) in float64, exactly
/// (lowest token on ties). temperature > 0.
template <typename T>
RowStats SummariseAndDraw(std::span<const T> row, double temperature, std::uint64_t stream_name, Token* drawn);

/// D between softmax(base) and softmax(fresh), never NaN, never negative.
template <typename T>
double RowDivergence(std::span<const T> base, std::span<const T> fresh, Divergence kind);

/// Scratch of one thread; grows to V once and is reused.
struct RowScratch {
  struct Candidate {
    double logit = 0;
    Token token = 0;
  };
  std::vector<double> weights;
  std::vector<double> scaled;
  std::vector<double> other;
  std::vector<Candidate> candidates;
};

/// The proposal of a row, every option honoured: the entry point that sessions use.
template <typename T>
Proposal ProposeRow(std::span<const T> row, Position position, const ProposalOptions& options, const StreamKey& key,
                    RowScratch& scratch);

/// The divergence of two rows, every option honoured.
template <typename T>
double DivergeRows(std::span<const T> base, std::span<const T> fresh, const DivergenceOptions& options,
                   RowScratch& scratch);

}  // namespace punt
