// A session that reports every batch of forward passes that it runs to the metrics.
#pragma once

#include <memory>
#include <vector>

#include "punt/denoiser.h"
#include "serve/metrics.h"

namespace punt {

/// Passes everything on to `inner`; passes that throw are not counted. The metrics must outlive it.
class TimedSession : public DenoiserSession {
 public:
  TimedSession(std::unique_ptr<DenoiserSession> inner, Metrics& metrics);

 protected:
  std::vector<PassRef> DoForward(std::span<const Query> queries) override;
  void DoPropose(std::span<const ProposalRequest> requests) override { inner_->Propose(requests); }
  void DoDiverge(std::span<const DivergenceRequest> requests) override { inner_->Diverge(requests); }
  void DoLogProbs(std::span<const LogProbRequest> requests) override { inner_->LogProbs(requests); }
  void DoTokenProbs(std::span<const TokenProbRequest> requests) override { inner_->TokenProbs(requests); }
  void DoAttention(std::span<const AttentionRequest> requests) override { inner_->Attention(requests); }
  void DoInfluence(std::span<const InfluenceRequest> requests) override { inner_->Influence(requests); }
  int PassesPerQuery() const override { return inner_->passes_per_query(); }

 private:
  std::unique_ptr<DenoiserSession> inner_;
  Metrics& metrics_;
};

}  // namespace punt
