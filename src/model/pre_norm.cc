#include "model/pre_norm.h"

#include "base/check.h"

namespace punt {

void RequirePreNormNetwork(const Hyperparameters& h, TensorTable& table) {
  table.Require("token_embd.weight", {h.model_dim, h.vocab_size});
  table.Require("output_norm.weight", {h.model_dim});
  table.Allow("output.weight", {h.model_dim, h.vocab_size});
  for (std::int64_t i = 0; i < h.layers; ++i) {
    table.Require("attn_norm.weight", {h.model_dim}, i);
    table.Require("attn_output.weight", {h.query_dim(), h.model_dim}, i);
    table.Require("ffn_norm.weight", {h.model_dim}, i);
    // Fused or one by one: converters write either.
    if (table.Allow("attn_qkv.weight", {h.model_dim, h.query_dim() + 2 * h.kv_dim()}, i)) {
      table.Allow("attn_qkv.bias", {h.query_dim() + 2 * h.kv_dim()}, i);
    } else {
      table.Require("attn_q.weight", {h.model_dim, h.query_dim()}, i);
      table.Require("attn_k.weight", {h.model_dim, h.kv_dim()}, i);
      table.Require("attn_v.weight", {h.model_dim, h.kv_dim()}, i);
      table.Allow("attn_q.bias", {h.query_dim()}, i);
      table.Allow("attn_k.bias", {h.kv_dim()}, i);
      table.Allow("attn_v.bias", {h.kv_dim()}, i);
    }
  }
}

void RequireSwiGlu(const Hyperparameters& h, TensorTable& table, std::int64_t layer) {
  table.Require("ffn_gate.weight", {h.model_dim, h.feed_forward_dim}, layer);
  table.Require("ffn_up.weight", {h.model_dim, h.feed_forward_dim}, layer);
  table.Require("ffn_down.weight", {h.feed_forward_dim, h.model_dim}, layer);
}

void RequireHeadNorms(const Hyperparameters& h, TensorTable& table, std::int64_t layer) {
  table.Require("attn_q_norm.weight", {h.head_dim}, layer);
  table.Require("attn_k_norm.weight", {h.head_dim}, layer);
}

void ReadAttentionBlock(const Metadata& metadata, std::int64_t fallback, Hyperparameters& hyper) {
  constexpr const char* kKey = "diffusion.block_length";
  hyper.attention_block = metadata.IntegerOr(kKey, fallback);
  if (hyper.attention_block < 0) {
    BadInput("{}: key '{}' is {}, must not be negative", metadata.origin(), kKey, hyper.attention_block);
  }
}

void RequireDenseNetwork(const Hyperparameters& hyper, TensorTable& table) {
  RequirePreNormNetwork(hyper, table);
  for (std::int64_t i = 0; i < hyper.layers; ++i) RequireSwiGlu(hyper, table, i);
}

ggml_tensor* EmbedTokens(Graph& graph) { return graph.Embedding(); }

namespace {

struct Projections {
  ggml_tensor* q;  // [head_dim, H, rows asked]
  ggml_tensor* k;  // [head_dim, kv_heads, N]
  ggml_tensor* v;
};

Projections Project(Graph& graph, ggml_tensor* x) {
  const Hyperparameters& h = graph.hyper();
  if (!graph.Has("attn_qkv.weight")) {
    return {graph.Heads(graph.Linear(graph.Asked(x), "attn_q"), h.heads),
            graph.Heads(graph.Linear(x, "attn_k"), h.kv_heads), graph.Heads(graph.Linear(x, "attn_v"), h.kv_heads)};
  }
  ggml_tensor* qkv = graph.Linear(x, "attn_qkv");
  const auto part = [&](std::int64_t first, std::int64_t heads) { return graph.Part(qkv, first, heads * h.head_dim); };
  return {graph.Heads(graph.Asked(part(0, h.heads)), h.heads), graph.Heads(part(h.query_dim(), h.kv_heads), h.kv_heads),
          graph.Heads(part(h.query_dim() + h.kv_dim(), h.kv_heads), h.kv_heads)};
}

}  // namespace

ggml_tensor* PreNormAttention(Graph& graph, ggml_tensor* x) {
  Projections p = Project(graph, graph.RmsNorm(x, "attn_norm"));
  if (graph.Has("attn_q_norm.weight")) {
    p.q = graph.RmsNorm(p.q, "attn_q_norm");
    p.k = graph.RmsNorm(p.k, "attn_k_norm");
  }
  ggml_tensor* mixed = graph.Attend(graph.Rope(p.q, true), graph.Rope(p.k, false), p.v);
  return graph.Add(graph.Asked(x), graph.Linear(mixed, "attn_output"));
}

ggml_tensor* DenseLayer(Graph& graph, ggml_tensor* x) {
  x = PreNormAttention(graph, x);
  return graph.Add(x, graph.SwiGlu(graph.RmsNorm(x, "ffn_norm")));
}

ggml_tensor* PreNormHead(Graph& graph, ggml_tensor* x) {
  ggml_tensor* normed = graph.RmsNorm(x, "output_norm");
  return graph.Linear(normed, graph.Has("output.weight") ? "output" : "token_embd");
}

}  // namespace punt
