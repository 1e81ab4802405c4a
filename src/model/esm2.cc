// ESM-2 and MemDLM, masked language models of proteins: pre-norm layers with layer norms and biases, RoPE on halves,
// erf GELU, a norm after the last layer, and BERT's head.
//
// Token dropout: ESM-2 was trained with part of the residues masked and their embeddings zeroed, and rescales the
// others for the share that is missing: by (1 - 0.15 * 0.8) / (1 - masked / all), at every inference. The factors are
// an input of the graph. Revealing a token therefore moves every embedding a little; SessionOptions::freeze_mask_ratio
// keeps the base pass's factor in test passes.
//
// Tested by parity_test.cc.
#include "model/amino_acids.h"
#include "model/architecture.h"
#include "model/masked_lm_head.h"

namespace punt {
namespace {

void Read(const Metadata& metadata, Hyperparameters& hyper) {
  GenerateAminoAcidsOnly(hyper);
  hyper.rope = RopeStyle::kHalves;
  hyper.token_dropout = metadata.BooleanOr(hyper.architecture + ".token_dropout", true);
}

void Require(const Hyperparameters& h, TensorTable& table) {
  table.Require("token_embd.weight", {h.model_dim, h.vocab_size});
  for (std::int64_t i = 0; i < h.layers; ++i) {
    RequireLayerNorm(table, "attn_norm", h.model_dim, i);
    for (const char* name : {"attn_q", "attn_k", "attn_v"}) RequireLinear(table, name, h.model_dim, h.query_dim(), i);
    RequireLinear(table, "attn_output", h.query_dim(), h.model_dim, i);
    RequireLayerNorm(table, "ffn_norm", h.model_dim, i);
    RequireLinear(table, "ffn_up", h.model_dim, h.feed_forward_dim, i);
    RequireLinear(table, "ffn_down", h.feed_forward_dim, h.model_dim, i);
  }
  RequireLayerNorm(table, "output_norm", h.model_dim);
  RequireMaskedLmHead(h, table);
}

ggml_tensor* Embed(Graph& graph) {
  ggml_tensor* x = graph.Embedding();
  return graph.hyper().token_dropout ? ggml_mul(graph.context(), x, graph.inputs().scales) : x;
}

ggml_tensor* Layer(Graph& graph, ggml_tensor* x) {
  const Hyperparameters& h = graph.hyper();
  ggml_tensor* normed = graph.LayerNorm(x, "attn_norm");
  ggml_tensor* q = graph.Rope(graph.Heads(graph.Linear(graph.Asked(normed), "attn_q"), h.heads), true);
  ggml_tensor* k = graph.Rope(graph.Heads(graph.Linear(normed, "attn_k"), h.heads), false);
  ggml_tensor* v = graph.Heads(graph.Linear(normed, "attn_v"), h.heads);
  x = graph.Add(graph.Asked(x), graph.Linear(graph.Attend(q, k, v), "attn_output"));
  ggml_tensor* hidden = graph.Gelu(graph.Linear(graph.LayerNorm(x, "ffn_norm"), "ffn_up"));
  return graph.Add(x, graph.Linear(hidden, "ffn_down"));
}

ggml_tensor* Head(Graph& graph, ggml_tensor* x) { return MaskedLmHead(graph, graph.LayerNorm(x, "output_norm")); }

}  // namespace

const ArchitectureRow kEsm2Row = {
    .name = "esm2",
    .summary = "ESM-2, MemDLM (proteins)",
    .read = Read,
    .require = Require,
    .embed = Embed,
    .layer = Layer,
    .head = Head,
};

}  // namespace punt
