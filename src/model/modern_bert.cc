// ModernBERT (arXiv 2412.13663) as a masked language model: pre-norm layers with layer norms, RoPE on halves, GeGLU. Of
// every few layers one sees the whole text; the others see a window around each position, and rotate by a base of their
// own. The embeddings are normed, so that the first layer has no norm before its attention. Norms and matrices have no
// biases in the released models; those that a file has are added.
//
// Tested by parity_test.cc.
#include "base/check.h"
#include "model/architecture.h"
#include "model/masked_lm_head.h"
#include "model/pre_norm.h"

namespace punt {
namespace {

void Read(const Metadata& metadata, Hyperparameters& hyper) {
  const std::string prefix = hyper.architecture + ".";
  hyper.rope = RopeStyle::kHalves;
  hyper.attention_window = metadata.Integer(prefix + "attention.sliding_window") / 2;
  hyper.global_every = metadata.Integer(prefix + "attention.sliding_window_pattern");
  hyper.local_rope_base = metadata.RealOr(prefix + "rope.freq_base_swa", 10'000);
  if (hyper.attention_window < 1 || hyper.global_every < 1) {
    BadInput("{}: keys '{}attention.sliding_window' and '..._pattern' are {} and {}, must be at least 2 and 1",
             metadata.origin(), prefix, metadata.Integer(prefix + "attention.sliding_window"), hyper.global_every);
  }
  if (!(hyper.local_rope_base > 0)) {
    BadInput("{}: key '{}rope.freq_base_swa' is {}, must be positive", metadata.origin(), prefix,
             hyper.local_rope_base);
  }
  ReadGelu(metadata, hyper);
}

void RequireWithAnyBias(TensorTable& table, const std::string& name, std::initializer_list<std::int64_t> shape,
                        std::int64_t size, std::int64_t layer = -1) {
  table.Require(name + ".weight", shape, layer);
  table.Allow(name + ".bias", {size}, layer);
}

void Require(const Hyperparameters& h, TensorTable& table) {
  const std::int64_t dim = h.model_dim;
  const std::int64_t gated = 2 * h.feed_forward_dim;
  table.Require("token_embd.weight", {dim, h.vocab_size});
  RequireWithAnyBias(table, "token_embd_norm", {dim}, dim);
  for (std::int64_t i = 0; i < h.layers; ++i) {
    if (i > 0) RequireWithAnyBias(table, "attn_norm", {dim}, dim, i);
    RequireWithAnyBias(table, "attn_qkv", {dim, 3 * h.query_dim()}, 3 * h.query_dim(), i);
    RequireWithAnyBias(table, "attn_output", {h.query_dim(), dim}, dim, i);
    RequireWithAnyBias(table, "ffn_norm", {dim}, dim, i);
    RequireWithAnyBias(table, "ffn_up", {dim, gated}, gated, i);
    RequireWithAnyBias(table, "ffn_down", {h.feed_forward_dim, dim}, dim, i);
  }
  RequireWithAnyBias(table, "output_norm", {dim}, dim);
  RequireWithAnyBias(table, "head_dense", {dim, dim}, dim);
  RequireWithAnyBias(table, "head_norm", {dim}, dim);
  table.Allow("output.weight", {dim, h.vocab_size});
  table.Allow("output.bias", {h.vocab_size});
}

ggml_tensor* Embed(Graph& graph) { return graph.LayerNorm(graph.Embedding(), "token_embd_norm"); }

/// ffn_down(gelu(first half) * second half) of what ffn_up makes.
ggml_tensor* GeGlu(Graph& graph, ggml_tensor* x) {
  ggml_tensor* both = graph.Linear(x, "ffn_up");
  const std::int64_t hidden = graph.hyper().feed_forward_dim;
  ggml_tensor* gate = graph.Gelu(graph.Part(both, 0, hidden));
  return graph.Linear(ggml_mul(graph.context(), gate, graph.Part(both, hidden, hidden)), "ffn_down");
}

ggml_tensor* Layer(Graph& graph, ggml_tensor* x) {
  const Hyperparameters& h = graph.hyper();
  ggml_tensor* normed = graph.layer() == 0 ? x : graph.LayerNorm(x, "attn_norm");
  ggml_tensor* qkv = graph.Linear(normed, "attn_qkv");
  const auto part = [&](int index) { return graph.Part(qkv, index * h.query_dim(), h.query_dim()); };
  ggml_tensor* q = graph.Rope(graph.Heads(graph.Asked(part(0)), h.heads), true);
  ggml_tensor* k = graph.Rope(graph.Heads(part(1), h.heads), false);
  x = graph.Add(graph.Asked(x), graph.Linear(graph.Attend(q, k, graph.Heads(part(2), h.heads)), "attn_output"));
  return graph.Add(x, GeGlu(graph, graph.LayerNorm(x, "ffn_norm")));
}

ggml_tensor* Head(Graph& graph, ggml_tensor* x) { return MaskedLmHead(graph, graph.LayerNorm(x, "output_norm")); }

}  // namespace

const ArchitectureRow kModernBertRow = {
    .name = "modern-bert",
    .summary = "ModernBERT masked language models",
    .read = Read,
    .require = Require,
    .embed = Embed,
    .layer = Layer,
    .head = Head,
};

}  // namespace punt
