// LLaDA-8B, LLaDA-1.5 (arXiv 2502.09992): a Llama without causal mask. Pre-norm, RMS norms, multi-head attention,
// SwiGLU, no biases, a head of its own; the prediction for a position is read at that position. GGUF files hold the
// rows of q and k permuted for RoPE on adjacent pairs; the original rotates halves.
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

void Require(const Hyperparameters& hyper, TensorTable& table) {
  RequirePreNormNetwork(hyper, table);
  for (std::int64_t i = 0; i < hyper.layers; ++i) RequireSwiGlu(hyper, table, i);
}

ggml_tensor* Layer(Graph& graph, ggml_tensor* x) {
  x = PreNormAttention(graph, x);
  return graph.Add(x, graph.SwiGlu(graph.RmsNorm(x, "ffn_norm")));
}

}  // namespace

const ArchitectureRow kLladaRow = {
    .name = "llada",
    .summary = "LLaDA-8B, LLaDA-1.5",
    .read = Read,
    .require = Require,
    .embed = EmbedTokens,
    .layer = Layer,
    .head = PreNormHead,
};

}  // namespace punt
