// SDAR (arXiv 2510.06303) and TraDo: Qwen3 with block-causal attention, a few positions to a block, and logits that are
// not shifted. Blocks tile the text from its first position.
//
// Tested by parity_test.cc.
#include "model/architecture.h"
#include "model/pre_norm.h"

namespace punt {
namespace {

constexpr std::int64_t kReleasedBlock = 4;

void Require(const Hyperparameters& h, TensorTable& table) {
  RequireDenseNetwork(h, table);
  for (std::int64_t i = 0; i < h.layers; ++i) RequireHeadNorms(h, table, i);
}

void Read(const Metadata& metadata, Hyperparameters& hyper) {
  hyper.rope = RopeStyle::kHalves;
  hyper.shift_logits = metadata.BooleanOr("diffusion.shift_logits", false);
  ReadAttentionBlock(metadata, kReleasedBlock, hyper);
}

}  // namespace

const ArchitectureRow kSdarRow = {
    .name = "sdar",
    .summary = "SDAR, TraDo",
    .read = Read,
    .require = Require,
    .embed = EmbedTokens,
    .layer = DenseLayer,
    .head = PreNormHead,
};

}  // namespace punt
