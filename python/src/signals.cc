#include "signals.h"

#include <nanobind/nanobind.h>

#include <utility>

namespace punt::py {
namespace {

namespace nb = nanobind;

thread_local bool asks = false;

class WatchedSession : public DenoiserSession {
 public:
  explicit WatchedSession(std::unique_ptr<DenoiserSession> inner)
      : DenoiserSession(inner->info()), inner_(std::move(inner)) {}

 protected:
  std::vector<PassRef> DoForward(std::span<const Query> queries) override {
    CheckSignals();
    return inner_->Forward(queries);
  }
  void DoPropose(std::span<const ProposalRequest> requests) override { inner_->Propose(requests); }
  void DoDiverge(std::span<const DivergenceRequest> requests) override { inner_->Diverge(requests); }
  void DoLogProbs(std::span<const LogProbRequest> requests) override { inner_->LogProbs(requests); }
  void DoTokenProbs(std::span<const TokenProbRequest> requests) override { inner_->TokenProbs(requests); }
  void DoAttention(std::span<const AttentionRequest> requests) override { inner_->Attention(requests); }
  void DoInfluence(std::span<const InfluenceRequest> requests) override { inner_->Influence(requests); }
  int PassesPerQuery() const override { return inner_->passes_per_query(); }

 private:
  std::unique_ptr<DenoiserSession> inner_;
};

class WatchedDenoiser : public Denoiser {
 public:
  explicit WatchedDenoiser(std::shared_ptr<const Denoiser> inner) : inner_(std::move(inner)) {}

  const DenoiserInfo& info() const override { return inner_->info(); }
  std::unique_ptr<DenoiserSession> NewSession(const SessionOptions& options) const override {
    return std::make_unique<WatchedSession>(inner_->NewSession(options));
  }

 private:
  std::shared_ptr<const Denoiser> inner_;
};

}  // namespace

SignalScope::SignalScope() : before_(std::exchange(asks, true)) {}
SignalScope::~SignalScope() { asks = before_; }

void CheckSignals() {
  if (!asks) return;
  nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

std::shared_ptr<const Denoiser> Watched(std::shared_ptr<const Denoiser> inner) {
  return std::make_shared<WatchedDenoiser>(std::move(inner));
}

}  // namespace punt::py
