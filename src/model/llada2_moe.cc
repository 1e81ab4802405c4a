// LLaDA2.0, LLaDA2.1: experts chosen in groups, one shared expert, RoPE on part of each head, and
// block-causal attention: position i sees position j unless j's block comes after i's. The router:
//
//   s = sigmoid(gate x), b = s + bias
//   a group's score is the sum of its two best b; the best groups stay
//   among their experts, the best by b are chosen; weights are their s, normalised, times a scale
//
// Blocks are attention masks here, so a canvas of several blocks is one pass: a block does not see what comes after it,
// and its rows are what a pass that ends with the block would give.
//
// Tested by parity_test.cc.
#include <limits>

#include "base/check.h"
#include "model/architecture.h"
#include "model/pre_norm.h"

namespace punt {
namespace {

constexpr std::int64_t kReleasedBlock = 32;

/// Whole groups of at least two experts (a group's score is that of its best two), enough of them to choose from.
void CheckGroups(const Metadata& metadata, const Hyperparameters& h) {
  const std::string prefix = h.architecture + ".";
  if (h.expert_groups < 1 || h.experts % h.expert_groups != 0 ||
      (h.expert_groups > 1 && h.experts / h.expert_groups < 2)) {
    BadInput("{}: key '{}expert_group_count' is {}, which does not divide {} experts into groups of two or more",
             metadata.origin(), prefix, h.expert_groups, h.experts);
  }
  if (h.expert_groups_used < 1 || h.expert_groups_used > h.expert_groups) {
    BadInput("{}: key '{}expert_group_used_count' is {}, must lie in 1..{}", metadata.origin(), prefix,
             h.expert_groups_used, h.expert_groups);
  }
  const std::int64_t candidates = h.experts / h.expert_groups * h.expert_groups_used;
  if (h.experts_used > candidates) {
    BadInput("{}: key '{}expert_used_count' is {}, more than the {} experts of the groups in use", metadata.origin(),
             prefix, h.experts_used, candidates);
  }
}

void Read(const Metadata& metadata, Hyperparameters& hyper) {
  const std::string prefix = hyper.architecture + ".";
  hyper.rope = RopeStyle::kHalves;
  hyper.shift_logits = metadata.BooleanOr("diffusion.shift_logits", false);
  hyper.expert_groups = metadata.IntegerOr(prefix + "expert_group_count", 1);
  hyper.expert_groups_used = metadata.IntegerOr(prefix + "expert_group_used_count", 1);
  hyper.expert_scale = metadata.RealOr(prefix + "expert_weights_scale", 1);
  hyper.leading_dense_layers = metadata.IntegerOr(prefix + "leading_dense_block_count", 0);
  hyper.shared_expert_dim = hyper.expert_dim * metadata.IntegerOr(prefix + "expert_shared_count", 1);
  ReadAttentionBlock(metadata, kReleasedBlock, hyper);
  if (hyper.experts > 0) CheckGroups(metadata, hyper);
}

void Require(const Hyperparameters& h, TensorTable& table) {
  RequirePreNormNetwork(h, table);
  for (std::int64_t i = 0; i < h.layers; ++i) {
    RequireHeadNorms(h, table, i);
    if (i < h.leading_dense_layers || h.experts == 0) {
      RequireSwiGlu(h, table, i);
      continue;
    }
    table.Require("ffn_gate_inp.weight", {h.model_dim, h.experts}, i);
    table.Require("exp_probs_b.bias", {h.experts}, i);
    table.Require("ffn_gate_exps.weight", {h.model_dim, h.expert_dim, h.experts}, i);
    table.Require("ffn_up_exps.weight", {h.model_dim, h.expert_dim, h.experts}, i);
    table.Require("ffn_down_exps.weight", {h.expert_dim, h.model_dim, h.experts}, i);
    table.Require("ffn_gate_shexp.weight", {h.model_dim, h.shared_expert_dim}, i);
    table.Require("ffn_up_shexp.weight", {h.model_dim, h.shared_expert_dim}, i);
    table.Require("ffn_down_shexp.weight", {h.shared_expert_dim, h.model_dim}, i);
  }
}

/// b with every group but the best at -infinity.
ggml_tensor* KeepBestGroups(Graph& graph, ggml_tensor* biased) {
  const Hyperparameters& h = graph.hyper();
  if (h.expert_groups_used >= h.expert_groups) return biased;
  ggml_context* c = graph.context();
  const std::int64_t size = h.experts / h.expert_groups;
  const std::int64_t tokens = biased->ne[1];
  ggml_tensor* groups = ggml_reshape_3d(c, biased, size, h.expert_groups, tokens);
  ggml_tensor* best_two = ggml_argsort_top_k(c, groups, 2);  // [2, groups, N]
  ggml_tensor* values = ggml_get_rows(c, ggml_reshape_4d(c, groups, 1, size, h.expert_groups, tokens), best_two);
  ggml_tensor* scores = ggml_sum_rows(c, ggml_reshape_3d(c, values, 2, h.expert_groups, tokens));
  scores = ggml_reshape_2d(c, scores, h.expert_groups, tokens);
  ggml_tensor* best = ggml_argsort_top_k(c, scores, static_cast<int>(h.expert_groups_used));  // [groups used, N]
  ggml_tensor* kept = ggml_get_rows(c, groups, best);                                         // [size, used, N]
  ggml_tensor* nothing = ggml_fill(c, groups, -std::numeric_limits<float>::infinity());
  ggml_tensor* filled = ggml_set_rows(c, nothing, kept, best);
  return ggml_reshape_2d(c, filled, h.experts, tokens);
}

Graph::Choice Route(Graph& graph, ggml_tensor* x) {
  const Hyperparameters& h = graph.hyper();
  ggml_context* c = graph.context();
  ggml_tensor* scores = ggml_sigmoid(c, graph.Linear(x, "ffn_gate_inp"));  // [experts, N]
  ggml_tensor* biased = ggml_add(c, scores, graph.Tensor("exp_probs_b.bias"));
  ggml_tensor* chosen = ggml_argsort_top_k(c, KeepBestGroups(graph, biased), static_cast<int>(h.experts_used));
  ggml_tensor* weights = ggml_get_rows(c, ggml_reshape_3d(c, scores, 1, h.experts, scores->ne[1]), chosen);
  weights = ggml_reshape_2d(c, weights, h.experts_used, weights->ne[2]);
  weights = ggml_div(c, weights, ggml_sum_rows(c, weights));
  weights = ggml_scale(c, weights, static_cast<float>(h.expert_scale));
  return {.experts = chosen, .weights = ggml_reshape_3d(c, weights, 1, h.experts_used, weights->ne[1])};
}

ggml_tensor* Layer(Graph& graph, ggml_tensor* x) {
  x = PreNormAttention(graph, x);
  ggml_tensor* normed = graph.RmsNorm(x, "ffn_norm");
  if (!graph.Has("ffn_gate_inp.weight")) return graph.Add(x, graph.SwiGlu(normed));
  ggml_tensor* shared = graph.SwiGlu(normed, "ffn_gate_shexp", "ffn_up_shexp", "ffn_down_shexp");
  return graph.Add(x, graph.Add(graph.Experts(normed, Route(graph, normed)), shared));
}

}  // namespace

const ArchitectureRow kLlada2MoeRow = {
    .name = "llada2-moe",
    .summary = "LLaDA2.0-mini, -flash, LLaDA2.1",
    .read = Read,
    .require = Require,
    .embed = EmbedTokens,
    .layer = Layer,
    .head = PreNormHead,
};

}  // namespace punt
