// Reads rows of a network's passes: through the output head, a portion at a time, and reduced in place.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "denoise/neural_pass.h"
#include "denoise/row_workers.h"
#include "model/network_runner.h"
#include "punt/denoiser.h"

namespace punt {

/// What readers of a session have in common.
struct ReaderOptions {
  std::size_t vocab = 0;
  std::size_t dim = 0;
  double guidance = 0;
  std::size_t logit_cache_bytes = 0;
  std::vector<Token> banned;  // no row proposes these
};

/// Used by one thread at a time. Results do not depend on the reader. Two readers must not read the same pass at once,
/// because reading stores logits in it.
class NeuralReader {
 public:
  /// `runner` computes heads; it, `options` and `team` must outlive the reader.
  NeuralReader(const ReaderOptions& options, NetworkRunner& runner, ThreadPool& team)
      : options_(options), runner_(runner), workers_(team, options.vocab) {}

  void Propose(const NeuralPass& pass, const ProposalRequest& request);
  void Diverge(const NeuralPass& base, const NeuralPass& fresh, const DivergenceRequest& request);
  void LogProbs(const NeuralPass& pass, const LogProbRequest& request);
  void TokenProbs(const NeuralPass& pass, const TokenProbRequest& request);

 private:
  using RowSpans = std::vector<std::span<const float>>;

  bool is_guided() const { return options_.guidance != 0; }

  template <typename RowBody>
  void ForPortions(const NeuralPass& pass, std::span<const Position> rows, const RowBody& body);
  RowSpans Portion(const NeuralPass& pass, std::span<const Position> rows, std::vector<float>& room);
  void ReadHead(const NeuralPass& pass, std::span<const Position> rows, const std::vector<std::size_t>& missing,
                std::span<const std::span<float>> targets);
  std::span<const float> RunHead(const std::vector<float>& states, const NeuralPass& pass,
                                 std::span<const Position> rows, const std::vector<std::size_t>& missing);

  const ReaderOptions& options_;
  NetworkRunner& runner_;
  RowWorkers workers_;
  std::vector<float> first_;  // portions of logits
  std::vector<float> second_;
  std::vector<float> conditional_;
  std::vector<float> states_;
};

}  // namespace punt
