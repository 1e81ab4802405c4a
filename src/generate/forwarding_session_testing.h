// A session that passes everything on to another one, for tests that watch or disturb what passes through.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "punt/denoiser.h"

namespace punt {

class ForwardingSession : public DenoiserSession {
 protected:
  explicit ForwardingSession(std::unique_ptr<DenoiserSession> inner)
      : DenoiserSession(inner->info()), inner_(std::move(inner)) {}

  std::vector<PassRef> DoForward(std::span<const Query> queries) override { return inner_->Forward(queries); }
  void DoPropose(std::span<const ProposalRequest> requests) override { inner_->Propose(requests); }
  void DoDiverge(std::span<const DivergenceRequest> requests) override { inner_->Diverge(requests); }
  void DoLogProbs(std::span<const LogProbRequest> requests) override { inner_->LogProbs(requests); }
  void DoTokenProbs(std::span<const TokenProbRequest> requests) override { inner_->TokenProbs(requests); }
  void DoInfluence(std::span<const InfluenceRequest> requests) override { inner_->Influence(requests); }

 private:
  std::unique_ptr<DenoiserSession> inner_;
};

}  // namespace punt
