// LLaDA-MoE-7B-A1B (arXiv 2509.24389): LLaDA with RMS norms on the heads of q and k, RoPE on halves, and experts.
// The router's softmax runs over all experts; the weights of the chosen ones are used as they are, not normalised.
// Layers without a router are dense.
//
// Tested by parity_test.cc.
#include "model/architecture.h"
#include "model/pre_norm.h"
#include "model/softmax_experts.h"

namespace punt {
namespace {

void Read(const Metadata& metadata, Hyperparameters& hyper) {
  hyper.rope = RopeStyle::kHalves;
  hyper.shift_logits = metadata.BooleanOr("diffusion.shift_logits", false);
}

}  // namespace

const ArchitectureRow kLladaMoeRow = {
    .name = "llada-moe",
    .summary = "LLaDA-MoE-7B-A1B",
    .read = Read,
    .require = RequireSoftmaxExperts,
    .embed = EmbedTokens,
    .layer = SoftmaxExpertsLayer,
    .head = PreNormHead,
};

}  // namespace punt
