// Stable-DiffCoder-8B (ByteDance Seed): Llama with block-causal attention, a few positions to a block, and logits that
// are not shifted.
//
// Tested by parity_test.cc.
#include "model/architecture.h"
#include "model/pre_norm.h"

namespace punt {
namespace {

constexpr std::int64_t kReleasedBlock = 4;

void Read(const Metadata& metadata, Hyperparameters& hyper) {
  hyper.rope = RopeStyle::kHalves;
  hyper.shift_logits = metadata.BooleanOr("diffusion.shift_logits", false);
  ReadAttentionBlock(metadata, kReleasedBlock, hyper);
}

}  // namespace

const ArchitectureRow kStableDiffcoderRow = {
    .name = "stable-diffcoder",
    .summary = "Stable-DiffCoder",
    .read = Read,
    .require = RequireDenseNetwork,
    .embed = EmbedTokens,
    .layer = DenseLayer,
    .head = PreNormHead,
};

}  // namespace punt
