#include "model/softmax_experts.h"

#include "model/pre_norm.h"

namespace punt {
namespace {

Graph::Choice Route(Graph& graph, ggml_tensor* x) {
  ggml_context* context = graph.context();
  const std::int64_t used = graph.hyper().experts_used;
  ggml_tensor* shares = ggml_soft_max(context, graph.Linear(x, "ffn_gate_inp"));  // [experts, N]
  ggml_tensor* chosen = ggml_argsort_top_k(context, shares, static_cast<int>(used));
  ggml_tensor* columns = ggml_reshape_3d(context, shares, 1, shares->ne[0], shares->ne[1]);
  ggml_tensor* weights = ggml_get_rows(context, columns, chosen);  // [1, used, N]
  if (!graph.hyper().normalises_experts) return {.experts = chosen, .weights = weights};
  weights = ggml_reshape_2d(context, weights, used, weights->ne[2]);
  weights = ggml_div(context, weights, ggml_sum_rows(context, weights));
  return {.experts = chosen, .weights = ggml_reshape_3d(context, weights, 1, used, weights->ne[1])};
}

}  // namespace

void RequireSoftmaxExperts(const Hyperparameters& h, TensorTable& table) {
  RequirePreNormNetwork(h, table);
  for (std::int64_t i = 0; i < h.layers; ++i) {
    RequireHeadNorms(h, table, i);
    if (h.experts == 0 || !table.Allow("ffn_gate_inp.weight", {h.model_dim, h.experts}, i)) {
      RequireSwiGlu(h, table, i);
      continue;
    }
    table.Require("ffn_gate_exps.weight", {h.model_dim, h.expert_dim, h.experts}, i);
    table.Require("ffn_up_exps.weight", {h.model_dim, h.expert_dim, h.experts}, i);
    table.Require("ffn_down_exps.weight", {h.expert_dim, h.model_dim, h.experts}, i);
  }
}

ggml_tensor* SoftmaxExpertsLayer(Graph& graph, ggml_tensor* x) {
  x = PreNormAttention(graph, x);
  ggml_tensor* normed = graph.RmsNorm(x, "ffn_norm");
  const bool is_dense = !graph.Has("ffn_gate_inp.weight");
  return graph.Add(x, is_dense ? graph.SwiGlu(normed) : graph.Experts(normed, Route(graph, normed)));
}

}  // namespace punt
