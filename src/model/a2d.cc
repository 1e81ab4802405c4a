// Tiny-A2D: a Qwen3, Qwen2 or Llama trained on as a masked diffusion model, whose attention sees all positions. Which
// of the three it is shows in the tensors: heads of q and k are normed (Qwen3), or q, k and v have biases (Qwen2). The
// models trained block by block have diffusion.block_length.
//
// Tested by parity_test.cc.
#include "model/architecture.h"
#include "model/pre_norm.h"

namespace punt {
namespace {

/// All layers have the norms of their heads, or none has.
void Require(const Hyperparameters& h, TensorTable& table) {
  RequireDenseNetwork(h, table);
  if (!table.Allow("attn_q_norm.weight", {h.head_dim}, 0)) return;
  for (std::int64_t i = 0; i < h.layers; ++i) RequireHeadNorms(h, table, i);
}

void Read(const Metadata& metadata, Hyperparameters& hyper) {
  hyper.rope = RopeStyle::kHalves;
  hyper.shift_logits = metadata.BooleanOr("diffusion.shift_logits", false);
  ReadAttentionBlock(metadata, 0, hyper);
}

}  // namespace

const ArchitectureRow kA2dRow = {
    .name = "a2d",
    .summary = "Tiny-A2D (Qwen3, Qwen2, Llama)",
    .read = Read,
    .require = Require,
    .embed = EmbedTokens,
    .layer = DenseLayer,
    .head = PreNormHead,
};

}  // namespace punt
