#include "model/post_norm.h"

#include "model/masked_lm_head.h"

namespace punt {

void RequirePostNormNetwork(const Hyperparameters& h, TensorTable& table) {
  table.Require("token_embd.weight", {h.token_dim, h.vocab_size});
  table.Require("position_embd.weight", {h.token_dim, h.context_length});
  if (h.token_types > 0) table.Require("token_types.weight", {h.token_dim, h.token_types});
  RequireLayerNorm(table, "token_embd_norm", h.token_dim);
  for (std::int64_t i = 0; i < h.stored_layers(); ++i) {
    for (const char* name : {"attn_q", "attn_k", "attn_v"}) RequireLinear(table, name, h.model_dim, h.query_dim(), i);
    RequireLinear(table, "attn_output", h.query_dim(), h.model_dim, i);
    RequireLayerNorm(table, "attn_output_norm", h.model_dim, i);
    RequireLinear(table, "ffn_up", h.model_dim, h.feed_forward_dim, i);
    RequireLinear(table, "ffn_down", h.feed_forward_dim, h.model_dim, i);
    RequireLayerNorm(table, "layer_output_norm", h.model_dim, i);
  }
  RequireMaskedLmHead(h, table);
}

ggml_tensor* EmbedWithPositions(Graph& graph) {
  ggml_tensor* x = graph.Add(graph.Embedding(), graph.Rows("position_embd.weight", graph.inputs().positions));
  if (graph.hyper().token_types > 0) x = graph.Add(x, graph.Rows("token_types.weight", graph.inputs().types));
  return graph.LayerNorm(x, "token_embd_norm");
}

ggml_tensor* PostNormLayer(Graph& graph, ggml_tensor* x) {
  const Hyperparameters& h = graph.hyper();
  ggml_tensor* q = graph.Heads(graph.Linear(graph.Asked(x), "attn_q"), h.heads);
  ggml_tensor* k = graph.Heads(graph.Linear(x, "attn_k"), h.heads);
  ggml_tensor* v = graph.Heads(graph.Linear(x, "attn_v"), h.heads);
  x = graph.Add(graph.Asked(x), graph.Linear(graph.Attend(q, k, v), "attn_output"));
  x = graph.LayerNorm(x, "attn_output_norm");
  ggml_tensor* hidden = graph.Gelu(graph.Linear(x, "ffn_up"));
  return graph.LayerNorm(graph.Add(x, graph.Linear(hidden, "ffn_down")), "layer_output_norm");
}

}  // namespace punt
