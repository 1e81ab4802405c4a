#include "model/masked_lm_head.h"

#include <string>

namespace punt {

void RequireLinear(TensorTable& table, std::string_view name, std::int64_t in, std::int64_t out, std::int64_t layer) {
  table.Require(std::string(name) + ".weight", {in, out}, layer);
  table.Require(std::string(name) + ".bias", {out}, layer);
}

void RequireLayerNorm(TensorTable& table, std::string_view name, std::int64_t dim, std::int64_t layer) {
  table.Require(std::string(name) + ".weight", {dim}, layer);
  table.Require(std::string(name) + ".bias", {dim}, layer);
}

void RequireMaskedLmHead(const Hyperparameters& h, TensorTable& table) {
  RequireLinear(table, "head_dense", h.model_dim, h.token_dim, -1);
  RequireLayerNorm(table, "head_norm", h.token_dim);
  table.Require("output.bias", {h.vocab_size});
  table.Allow("output.weight", {h.token_dim, h.vocab_size});
}

ggml_tensor* MaskedLmHead(Graph& graph, ggml_tensor* x) {
  ggml_tensor* hidden = graph.LayerNorm(graph.Gelu(graph.Linear(x, "head_dense")), "head_norm");
  ggml_tensor* logits = graph.Linear(hidden, graph.Has("output.weight") ? "output" : "token_embd");
  const bool adds_bias = !graph.Has("output.weight") && graph.Has("output.bias");
  return adds_bias ? graph.Add(logits, graph.Tensor("output.bias")) : logits;
}

}  // namespace punt
