// A view of a session in which some tokens cannot be proposed, for as long as the view exists: what SessionOptions bans
// is banned for good. Rows are conditioned on not being one of these tokens.
#pragma once

#include <vector>

#include "punt/denoiser.h"

namespace punt {

/// Reads the passes of `inner`, row by row (the plain twins of sampler.h): for the few steps that need it. Shadows and
/// attention are as they were. Reading throws Error when a row has no other token.
class NarrowedSession : public DenoiserSession {
 public:
  NarrowedSession(DenoiserSession& inner, std::vector<Token> banned)
      : DenoiserSession(inner.info()), inner_(inner), banned_(std::move(banned)) {}

 protected:
  std::vector<PassRef> DoForward(std::span<const Query> queries) override { return inner_.Forward(queries); }
  void DoPropose(std::span<const ProposalRequest> requests) override;
  void DoDiverge(std::span<const DivergenceRequest> requests) override;
  void DoLogProbs(std::span<const LogProbRequest> requests) override;
  void DoTokenProbs(std::span<const TokenProbRequest> requests) override;
  void DoAttention(std::span<const AttentionRequest> requests) override { inner_.Attention(requests); }
  void DoInfluence(std::span<const InfluenceRequest> requests) override { inner_.Influence(requests); }
  int PassesPerQuery() const override { return inner_.passes_per_query(); }

 private:
  void Read(const Pass* pass, Position row, std::span<double> out);
  std::vector<double> Read(const Pass* pass, Position row);

  DenoiserSession& inner_;
  std::vector<Token> banned_;
};

}  // namespace punt
