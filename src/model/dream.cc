// Dream-7B, Dream-Coder, DreamOn, DiffuCoder (arXiv 2508.15487): Qwen2 without causal mask. Pre-norm, RMS norms,
// grouped-query attention with biases on q, k and v, RoPE on halves, SwiGLU. Its logits are shifted as in the
// autoregressive model it was made from: the prediction for position i is read at row i - 1, that for position 0 at row
// 0.
//
// Tested by parity_test.cc.
#include "model/architecture.h"
#include "model/pre_norm.h"

namespace punt {
namespace {

void Read(const Metadata& metadata, Hyperparameters& hyper) {
  hyper.rope = RopeStyle::kHalves;
  // llama.cpp's converter does not write the key for Dream: absent means shifted.
  hyper.shift_logits = metadata.BooleanOr("diffusion.shift_logits", true);
  hyper.has_length_tokens = true;  // in DreamOn's vocabulary
}

}  // namespace

const ArchitectureRow kDreamRow = {
    .name = "dream",
    .summary = "Dream-7B, Dream-Coder, DreamOn, DiffuCoder",
    .read = Read,
    .require = RequireDenseNetwork,
    .embed = EmbedTokens,
    .layer = DenseLayer,
    .head = PreNormHead,
};

}  // namespace punt
