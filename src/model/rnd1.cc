// RND1-30B-A3B (Radical Numerics): Qwen3-MoE without causality. Its logits are shifted as Dream's are.
//
// Tested by parity_test.cc.
#include "model/architecture.h"
#include "model/pre_norm.h"
#include "model/softmax_experts.h"

namespace punt {
namespace {

void Read(const Metadata& metadata, Hyperparameters& hyper) {
  hyper.rope = RopeStyle::kHalves;
  hyper.shift_logits = metadata.BooleanOr("diffusion.shift_logits", true);
  hyper.normalises_experts = true;
}

}  // namespace

const ArchitectureRow kRnd1Row = {
    .name = "rnd1",
    .summary = "RND1-30B-A3B",
    .read = Read,
    .require = RequireSoftmaxExperts,
    .embed = EmbedTokens,
    .layer = SoftmaxExpertsLayer,
    .head = PreNormHead,
};

}  // namespace punt
