// Dream-7B, DiffuCoder (arXiv 2508.15487): Qwen2 without causal mask. Pre-norm, RMS norms, grouped-query attention
// with biases on q, k and v, RoPE on halves, SwiGLU. Its logits are shifted as in the autoregressive model it was
// made from: the prediction for position i is read at row i - 1, that for position 0 at row 0.
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

const ArchitectureRow kDreamRow = {
    .name = "dream",
    .summary = "Dream-7B, DiffuCoder",
    .read = Read,
    .require = Require,
    .embed = EmbedTokens,
    .layer = Layer,
    .head = PreNormHead,
};

}  // namespace punt
