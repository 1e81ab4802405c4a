// LLaDA-8B, LLaDA-1.5 (arXiv 2502.09992): a Llama without causal mask. Pre-norm, RMS norms, multi-head attention,
// SwiGLU, no biases, a separate output head; the prediction for a position is read at that position. GGUF files hold
// the rows of q and k permuted for RoPE on adjacent pairs; the original rotates halves.
//
// Tested by parity_test.cc.
#include "model/architecture.h"
#include "model/pre_norm.h"

namespace punt {
namespace {

void Read(const Metadata& metadata, Hyperparameters& hyper) {
  hyper.rope = RopeStyle::kAdjacentPairs;
  hyper.shift_logits = metadata.BooleanOr("diffusion.shift_logits", false);
}

}  // namespace

const ArchitectureRow kLladaRow = {
    .name = "llada",
    .summary = "LLaDA-8B, LLaDA-1.5",
    .read = Read,
    .require = RequireDenseNetwork,
    .embed = EmbedTokens,
    .layer = DenseLayer,
    .head = PreNormHead,
};

}  // namespace punt
