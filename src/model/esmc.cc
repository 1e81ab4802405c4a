// ESM C (EvolutionaryScale, Biohub): a masked language model of proteins. Pre-norm layers with layer norms, without
// biases but for the norms before attention and feed-forward; queries and keys are normed over all heads together, then
// RoPE on halves; SwiGLU. What a layer adds is divided by sqrt(layers / 36). BERT's head with a matrix of its own.
//
// Tested by parity_test.cc.
#include "base/check.h"
#include "model/amino_acids.h"
#include "model/architecture.h"
#include "model/masked_lm_head.h"
#include "model/pre_norm.h"

namespace punt {
namespace {

void Read(const Metadata& metadata, Hyperparameters& hyper) {
  GenerateAminoAcidsOnly(hyper);
  hyper.rope = RopeStyle::kHalves;
  hyper.residual_scale = metadata.Real("esmc.residual_scale");
  if (!(hyper.residual_scale > 0)) {
    BadInput("{}: key 'esmc.residual_scale' is {}, must be positive", metadata.origin(), hyper.residual_scale);
  }
}

void Require(const Hyperparameters& h, TensorTable& table) {
  table.Require("token_embd.weight", {h.model_dim, h.vocab_size});
  table.Require("output_norm.weight", {h.model_dim});
  for (std::int64_t i = 0; i < h.layers; ++i) {
    RequireLayerNorm(table, "attn_norm", h.model_dim, i);
    for (const char* name : {"attn_q", "attn_k", "attn_v"}) {
      table.Require(std::string(name) + ".weight", {h.model_dim, h.query_dim()}, i);
    }
    table.Require("attn_q_norm.weight", {h.query_dim()}, i);
    table.Require("attn_k_norm.weight", {h.query_dim()}, i);
    table.Require("attn_output.weight", {h.query_dim(), h.model_dim}, i);
    RequireLayerNorm(table, "ffn_norm", h.model_dim, i);
    RequireSwiGlu(h, table, i);
  }
  RequireMaskedLmHead(h, table);
}

ggml_tensor* Layer(Graph& graph, ggml_tensor* x) {
  const Hyperparameters& h = graph.hyper();
  ggml_tensor* normed = graph.LayerNorm(x, "attn_norm");
  ggml_tensor* q = graph.LayerNorm(graph.Linear(graph.Asked(normed), "attn_q"), "attn_q_norm");
  ggml_tensor* k = graph.LayerNorm(graph.Linear(normed, "attn_k"), "attn_k_norm");
  ggml_tensor* v = graph.Heads(graph.Linear(normed, "attn_v"), h.heads);
  q = graph.Rope(graph.Heads(q, h.heads), true);
  k = graph.Rope(graph.Heads(k, h.heads), false);
  x = graph.AddScaled(graph.Asked(x), graph.Linear(graph.Attend(q, k, v), "attn_output"));
  return graph.AddScaled(x, graph.SwiGlu(graph.LayerNorm(x, "ffn_norm")));
}

ggml_tensor* Head(Graph& graph, ggml_tensor* x) { return MaskedLmHead(graph, graph.LayerNorm(x, "output_norm")); }

}  // namespace

const ArchitectureRow kEsmcRow = {
    .name = "esmc",
    .summary = "ESM C (proteins)",
    .read = Read,
    .require = Require,
    .embed = EmbedTokens,
    .layer = Layer,
    .head = Head,
};

}  // namespace punt
