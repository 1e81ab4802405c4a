// Networks as denoisers.
#pragma once

#include <memory>
#include <vector>

#include "model/influence_head.h"
#include "model/network.h"
#include "model/prefix_tree.h"
#include "punt/denoiser.h"
#include "punt/model.h"

namespace punt {

class NeuralDenoiser : public Denoiser {
 public:
  /// `never` are tokens that no row may propose (besides the mask), because they do not occur in texts.
  /// `influence` may be null; block_size is the network's own. Throws Error when the facts do not fit the network.
  NeuralDenoiser(DenoiserInfo info, std::shared_ptr<const Network> network, std::vector<Token> never,
                 std::shared_ptr<const InfluenceHead> influence = nullptr,
                 std::size_t block_cache_bytes = kUsualBlockCacheBytes);

  const DenoiserInfo& info() const override { return info_; }
  BlockCacheStats block_cache() const override;
  const Network& network() const { return *network_; }
  std::unique_ptr<DenoiserSession> NewSession(const SessionOptions& options) const override;

 private:
  DenoiserInfo info_;
  std::shared_ptr<const Network> network_;
  std::vector<Token> never_;
  std::shared_ptr<const InfluenceHead> influence_;
  std::unique_ptr<PrefixTree> tree_;  // of networks in blocks, shared by all sessions; else null
};

}  // namespace punt
