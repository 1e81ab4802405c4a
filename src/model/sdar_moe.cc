// SDAR-30B-A3B: Qwen3-MoE with block-causal attention. See sdar.cc.
//
// Tested by parity_test.cc.
#include "model/architecture.h"
#include "model/pre_norm.h"
#include "model/softmax_experts.h"

namespace punt {
namespace {

constexpr std::int64_t kReleasedBlock = 4;

void Read(const Metadata& metadata, Hyperparameters& hyper) {
  hyper.rope = RopeStyle::kHalves;
  hyper.shift_logits = metadata.BooleanOr("diffusion.shift_logits", false);
  hyper.normalises_experts = true;
  ReadAttentionBlock(metadata, kReleasedBlock, hyper);
}

}  // namespace

const ArchitectureRow kSdarMoeRow = {
    .name = "sdar-moe",
    .summary = "SDAR-30B-A3B",
    .read = Read,
    .require = RequireSoftmaxExperts,
    .embed = EmbedTokens,
    .layer = SoftmaxExpertsLayer,
    .head = PreNormHead,
};

}  // namespace punt
