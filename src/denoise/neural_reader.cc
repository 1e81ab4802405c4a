#include "denoise/neural_reader.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "kernels/row_kernels.h"

namespace punt {
namespace {

constexpr std::size_t kPortion = 64;  // rows through the head at a time
constexpr float kImpossible = -std::numeric_limits<float>::infinity();

}  // namespace

template <typename RowBody>
void NeuralReader::ForPortions(const NeuralPass& pass, std::span<const Position> rows, const RowBody& body) {
  for (std::size_t begin = 0; begin < rows.size(); begin += kPortion) {
    const auto portion = rows.subspan(begin, std::min(kPortion, rows.size() - begin));
    const RowSpans logits = Portion(pass, portion, first_);
    workers_.ForRows(portion.size(), [&](std::size_t i, RowScratch& scratch) { body(begin + i, logits[i], scratch); });
  }
}

/// The logits of `rows`, from what the pass keeps or through the head into `room`; valid until either changes.
NeuralReader::RowSpans NeuralReader::Portion(const NeuralPass& pass, std::span<const Position> rows,
                                             std::vector<float>& room) {
  std::vector<std::size_t> missing;  // of `rows`
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!pass.IsKept(pass.IndexOf(rows[i]))) missing.push_back(i);
  }
  const bool keeps = pass.keeps_room();
  if (!keeps) room.resize(std::max(room.size(), missing.size() * options_.vocab));
  std::vector<std::span<float>> targets;  // of the missing ones
  for (std::size_t m = 0; m < missing.size(); ++m) {
    targets.push_back(keeps ? pass.Kept(pass.IndexOf(rows[missing[m]]), options_.vocab)
                            : std::span(room).subspan(m * options_.vocab, options_.vocab));
  }
  ReadHead(pass, rows, missing, targets);
  RowSpans spans(rows.size());
  for (std::size_t m = 0; m < missing.size(); ++m) {
    spans[missing[m]] = targets[m];
    if (keeps) pass.SetKept(pass.IndexOf(rows[missing[m]]));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (spans[i].empty()) spans[i] = pass.Kept(pass.IndexOf(rows[i]), options_.vocab);
  }
  return spans;
}

/// Runs the head for some of the rows, and writes what may be sampled from to `targets`.
void NeuralReader::ReadHead(const NeuralPass& pass, std::span<const Position> rows,
                            const std::vector<std::size_t>& missing, std::span<const std::span<float>> targets) {
  if (missing.empty()) return;
  std::span<const float> logits = RunHead(pass.hidden, pass, rows, missing);
  if (is_guided()) {
    conditional_.assign(logits.begin(), logits.end());
    logits = RunHead(pass.unconditional, pass, rows, missing);
  }
  const auto factor = static_cast<float>(options_.guidance + 1);
  std::atomic<bool> is_finite = true;
  workers_.ForRows(missing.size(), [&](std::size_t m, RowScratch&) {
    const std::span<float> row = targets[m];
    const std::span<const float> from = logits.subspan(m * options_.vocab, options_.vocab);
    if (is_guided()) {
      const float* conditional = conditional_.data() + m * options_.vocab;
      for (std::size_t v = 0; v < options_.vocab; ++v) row[v] = from[v] + factor * (conditional[v] - from[v]);
    } else {
      std::copy(from.begin(), from.end(), row.begin());
    }
    if (!NetworkRunner::IsFinite(row)) is_finite = false;
    for (Token token : options_.banned) row[static_cast<std::size_t>(token)] = kImpossible;
  });
  if (!is_finite) runner_.ThrowNotFinite();
}

std::span<const float> NeuralReader::RunHead(const std::vector<float>& states, const NeuralPass& pass,
                                             std::span<const Position> rows, const std::vector<std::size_t>& missing) {
  states_.clear();
  for (std::size_t i : missing) {
    const auto from = states.begin() + static_cast<std::ptrdiff_t>(pass.IndexOf(rows[i]) * options_.dim);
    states_.insert(states_.end(), from, from + static_cast<std::ptrdiff_t>(options_.dim));
  }
  return runner_.LogitsInPlace(states_);
}

void NeuralReader::Propose(const NeuralPass& pass, const ProposalRequest& request) {
  pass.KeepsLogits(options_.vocab, options_.logit_cache_bytes);
  ForPortions(pass, request.rows, [&](std::size_t i, std::span<const float> row, RowScratch& scratch) {
    request.out[i] = ProposeRow(row, request.rows[i], *request.options, request.key, scratch);
  });
}

void NeuralReader::Diverge(const NeuralPass& base, const NeuralPass& fresh, const DivergenceRequest& request) {
  base.KeepsLogits(options_.vocab, options_.logit_cache_bytes);
  for (std::size_t begin = 0; begin < request.rows.size(); begin += kPortion) {
    const auto rows = request.rows.subspan(begin, std::min(kPortion, request.rows.size() - begin));
    const auto base_rows = Portion(base, rows, first_);
    const auto fresh_rows = Portion(fresh, rows, second_);
    workers_.ForRows(rows.size(), [&](std::size_t i, RowScratch& scratch) {
      request.out[begin + i] = DivergeRows(base_rows[i], fresh_rows[i], *request.options, scratch);
    });
  }
}

void NeuralReader::LogProbs(const NeuralPass& pass, const LogProbRequest& request) {
  const std::size_t vocab = options_.vocab;
  ForPortions(pass, request.rows, [&](std::size_t i, std::span<const float> row, RowScratch&) {
    const double log_sum = SummariseRow(row).log_sum_exp;
    for (std::size_t v = 0; v < vocab; ++v) request.out[i * vocab + v] = static_cast<double>(row[v]) - log_sum;
  });
}

void NeuralReader::TokenProbs(const NeuralPass& pass, const TokenProbRequest& request) {
  ForPortions(pass, request.rows, [&](std::size_t i, std::span<const float> row, RowScratch&) {
    const double logit = row[static_cast<std::size_t>(request.tokens[i])];
    request.out[i] = std::exp(logit - SummariseRow(row).log_sum_exp);
  });
}

}  // namespace punt
