// LLaDA-MoE-7B-A1B (arXiv 2509.24389): LLaDA with RMS norms on the heads of q and k, RoPE on halves, and experts.
// The router's softmax runs over all experts; the weights of the chosen ones are used as they are, not normalised.
// Layers without a router are dense.
//
// Tested by parity_test.cc.
#include "model/architecture.h"
#include "model/pre_norm.h"

namespace punt {
namespace {

void Read(const Metadata& metadata, Hyperparameters& hyper) {
  hyper.rope = RopeStyle::kHalves;
  hyper.shift_logits = metadata.BooleanOr("diffusion.shift_logits", false);
}

void Require(const Hyperparameters& h, TensorTable& table) {
  RequirePreNormNetwork(h, table);
  for (std::int64_t i = 0; i < h.layers; ++i) {
    table.Require("attn_q_norm.weight", {h.head_dim}, i);
    table.Require("attn_k_norm.weight", {h.head_dim}, i);
    if (h.experts == 0 || !table.Allow("ffn_gate_inp.weight", {h.model_dim, h.experts}, i)) {
      RequireSwiGlu(h, table, i);
      continue;
    }
    table.Require("ffn_gate_exps.weight", {h.model_dim, h.expert_dim, h.experts}, i);
    table.Require("ffn_up_exps.weight", {h.model_dim, h.expert_dim, h.experts}, i);
    table.Require("ffn_down_exps.weight", {h.expert_dim, h.model_dim, h.experts}, i);
  }
}

Graph::Choice Route(Graph& graph, ggml_tensor* x) {
  ggml_context* context = graph.context();
  const int used = static_cast<int>(graph.hyper().experts_used);
  ggml_tensor* shares = ggml_soft_max(context, graph.Linear(x, "ffn_gate_inp"));  // [experts, N]
  ggml_tensor* chosen = ggml_argsort_top_k(context, shares, used);
  ggml_tensor* columns = ggml_reshape_3d(context, shares, 1, shares->ne[0], shares->ne[1]);
  return {.experts = chosen, .weights = ggml_get_rows(context, columns, chosen)};
}

ggml_tensor* Layer(Graph& graph, ggml_tensor* x) {
  x = PreNormAttention(graph, x);
  ggml_tensor* normed = graph.RmsNorm(x, "ffn_norm");
  const bool is_dense = !graph.Has("ffn_gate_inp.weight");
  return graph.Add(x, is_dense ? graph.SwiGlu(normed) : graph.Experts(normed, Route(graph, normed)));
}

}  // namespace

const ArchitectureRow kLladaMoeRow = {
    .name = "llada-moe",
    .summary = "LLaDA-MoE-7B-A1B",
    .read = Read,
    .require = Require,
    .embed = EmbedTokens,
    .layer = Layer,
    .head = PreNormHead,
};

}  // namespace punt
