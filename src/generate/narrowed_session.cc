#include "generate/narrowed_session.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace punt {

void NarrowedSession::Read(const Pass* pass, Position row, std::span<double> out) {
  const LogProbRequest request{.pass = pass, .rows = {&row, 1}, .out = out};
  inner_.LogProbs({&request, 1});
  for (Token token : banned_) out[static_cast<std::size_t>(token)] = -std::numeric_limits<double>::infinity();
  const double top = *std::max_element(out.begin(), out.end());
  if (!std::isfinite(top)) BadInput("row {} of {} allows no token but banned ones", row, info().name);
  double sum = 0;
  for (double log_prob : out) sum += std::exp(log_prob - top);
  for (double& log_prob : out) log_prob -= top + std::log(sum);
}

std::vector<double> NarrowedSession::Read(const Pass* pass, Position row) {
  std::vector<double> log_probs(static_cast<std::size_t>(info().vocab_size));
  Read(pass, row, log_probs);
  return log_probs;
}

void NarrowedSession::DoPropose(std::span<const ProposalRequest> requests) {
  for (const ProposalRequest& request : requests) {
    for (std::size_t i = 0; i < request.rows.size(); ++i) {
      const Position row = request.rows[i];
      request.out[i] = ProposeFromRow(Read(request.pass, row), row, *request.options, request.key);
    }
  }
}

void NarrowedSession::DoDiverge(std::span<const DivergenceRequest> requests) {
  for (const DivergenceRequest& request : requests) {
    for (std::size_t i = 0; i < request.rows.size(); ++i) {
      const Position row = request.rows[i];
      request.out[i] = DivergenceOfRows(Read(request.base, row), Read(request.fresh, row), *request.options);
    }
  }
}

void NarrowedSession::DoLogProbs(std::span<const LogProbRequest> requests) {
  const auto vocab = static_cast<std::size_t>(info().vocab_size);
  for (const LogProbRequest& request : requests) {
    for (std::size_t i = 0; i < request.rows.size(); ++i) {
      Read(request.pass, request.rows[i], request.out.subspan(i * vocab, vocab));
    }
  }
}

void NarrowedSession::DoTokenProbs(std::span<const TokenProbRequest> requests) {
  for (const TokenProbRequest& request : requests) {
    for (std::size_t i = 0; i < request.rows.size(); ++i) {
      const std::vector<double> log_probs = Read(request.pass, request.rows[i]);
      request.out[i] = std::exp(log_probs[static_cast<std::size_t>(request.tokens[i])]);
    }
  }
}

}  // namespace punt
