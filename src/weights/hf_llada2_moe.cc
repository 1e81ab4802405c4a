// LLaDA2.0 (arXiv:2512.15745): Ling 2.0's layout. q, k and v are one matrix (rows q | k | v, kept as it is), heads of q
// and k are normalised, RoPE rotates a part of each head, the router is a sigmoid whose bias affects only the choice
// and which picks groups of experts first; a shared expert is always on, and the first layers are dense.
#include "base/check.h"
#include "weights/hf_model.h"

namespace punt {
namespace {

void DemandSupported(const HfConfig& config) {
  config.Demand("hidden_act", "silu");
  config.Demand("score_function", "sigmoid");
  config.Demand("norm_topk_prob", true);
  config.Demand("moe_router_enable_expert_bias", true);
  config.Demand("use_qk_norm", true);
  config.Demand("use_rmsnorm", true);
  for (const char* field : {"use_bias", "use_qkv_bias", "use_sliding_window", "using_split_qkv_in_self_attention",
                            "norm_head", "norm_softmax"}) {
    config.Demand(field, false);
  }
  const std::int64_t capacity = config.CountOr("expert_capacity", 0, HfConfig::kMostExperts);
  if (capacity > 0) {
    BadInput("{}: expert_capacity is {}: experts chosen for blocks (LLaDA2.2) are not supported", config.origin(),
             capacity);
  }
}

struct Sizes {
  explicit Sizes(const HfConfig& config)
      : dim(config.Size("hidden_size")),
        heads(config.Size("num_attention_heads", 65'536)),
        kv_heads(config.SizeOr("num_key_value_heads", heads, 65'536)),
        head_dim(config.SizeOr("head_dim", dim / heads, 65'536)),
        layers(config.Size("num_hidden_layers", HfConfig::kMostLayers)),
        dense_layers(config.CountOr("first_k_dense_replace", 0, layers)),
        hidden(config.Size("intermediate_size")),
        experts(config.Size("num_experts", HfConfig::kMostExperts)),
        used(config.Size("num_experts_per_tok", experts)),
        expert_hidden(config.Size("moe_intermediate_size")),
        shared(config.CountOr("num_shared_experts", 0, 1024)),
        groups(config.SizeOr("n_group", 1, experts)),
        groups_used(config.SizeOr("topk_group", groups, groups)),
        vocab(config.Size("vocab_size")) {
    if (head_dim < 1 || heads % kv_heads != 0 || experts % groups != 0) {
      BadInput("{}: num_attention_heads {} / num_key_value_heads {} or num_experts {} / n_group {} leave a rest",
               config.origin(), heads, kv_heads, experts, groups);
    }
  }

  std::int64_t dim, heads, kv_heads, head_dim, layers, dense_layers, hidden;
  std::int64_t experts, used, expert_hidden, shared, groups, groups_used, vocab;
};

void SetKeys(const HfConfig& config, const Sizes& sizes, HfModel& model) {
  const double rotary = config.RealOr("partial_rotary_factor", 1.0);
  if (rotary <= 0 || rotary > 1) BadInput("{}: partial_rotary_factor {} is not in (0, 1]", config.origin(), rotary);
  model.SetDecoder({.context = config.Size("max_position_embeddings"),
                    .vocab = sizes.vocab,
                    .dim = sizes.dim,
                    .layers = sizes.layers,
                    .hidden = sizes.hidden,
                    .heads = sizes.heads,
                    .kv_heads = sizes.kv_heads,
                    .rope_dims = static_cast<std::int64_t>(static_cast<double>(sizes.head_dim) * rotary),
                    .rope_base = config.RopeBase(10'000.0),
                    .norm_epsilon = config.RealOr("rms_norm_eps", 1e-6),
                    .experts = sizes.experts,
                    .experts_used = sizes.used,
                    .expert_hidden = sizes.expert_hidden});
  model.SetSize("leading_dense_block_count", sizes.dense_layers);
  model.SetSize("attention.key_length", sizes.head_dim);
  model.SetSize("attention.value_length", sizes.head_dim);
  model.SetSize("expert_shared_count", sizes.shared);
  model.SetSize("expert_group_count", sizes.groups);
  model.SetSize("expert_group_used_count", sizes.groups_used);
  model.SetReal("expert_weights_scale", config.RealOr("routed_scaling_factor", 1.0));
}

void AddFfn(const Sizes& sizes, const std::string& to, const std::string& from, bool is_dense, HfModel& model) {
  if (is_dense) {
    model.Matrix(to + "ffn_gate", from + "gate_proj", sizes.hidden, sizes.dim);
    model.Matrix(to + "ffn_up", from + "up_proj", sizes.hidden, sizes.dim);
    model.Matrix(to + "ffn_down", from + "down_proj", sizes.dim, sizes.hidden);
    return;
  }
  const std::int64_t hidden = sizes.expert_hidden;
  model.Matrix(to + "ffn_gate_inp", from + "gate", sizes.experts, sizes.dim);
  model.Vector(to + "exp_probs_b.bias", from + "gate.expert_bias", sizes.experts);
  model.Matrix(to + "ffn_gate_exps", from + "experts.{}.gate_proj", hidden, sizes.dim).stacked = sizes.experts;
  model.Matrix(to + "ffn_up_exps", from + "experts.{}.up_proj", hidden, sizes.dim).stacked = sizes.experts;
  model.Matrix(to + "ffn_down_exps", from + "experts.{}.down_proj", sizes.dim, hidden).stacked = sizes.experts;
  if (sizes.shared == 0) return;
  const std::int64_t shared_hidden = hidden * sizes.shared;
  model.Matrix(to + "ffn_gate_shexp", from + "shared_experts.gate_proj", shared_hidden, sizes.dim);
  model.Matrix(to + "ffn_up_shexp", from + "shared_experts.up_proj", shared_hidden, sizes.dim);
  model.Matrix(to + "ffn_down_shexp", from + "shared_experts.down_proj", sizes.dim, shared_hidden);
}

}  // namespace

void DescribeLlada2Moe(const HfConfig& config, HfModel& model) {
  DemandSupported(config);
  const Sizes sizes(config);
  SetKeys(config, sizes, model);
  model.Matrix("token_embd", "model.word_embeddings", sizes.vocab, sizes.dim);
  for (std::int64_t layer = 0; layer < sizes.layers; ++layer) {
    const std::string to = fmt::format("blk.{}.", layer);
    const std::string from = fmt::format("model.layers.{}.", layer);
    const std::string attention = from + "attention.";
    model.Vector(to + "attn_norm.weight", from + "input_layernorm.weight", sizes.dim);
    model.Matrix(to + "attn_qkv", attention + "query_key_value", (sizes.heads + 2 * sizes.kv_heads) * sizes.head_dim,
                 sizes.dim);
    model.Vector(to + "attn_q_norm.weight", attention + "query_layernorm.weight", sizes.head_dim);
    model.Vector(to + "attn_k_norm.weight", attention + "key_layernorm.weight", sizes.head_dim);
    model.Matrix(to + "attn_output", attention + "dense", sizes.dim, sizes.heads * sizes.head_dim);
    model.Vector(to + "ffn_norm.weight", from + "post_attention_layernorm.weight", sizes.dim);
    AddFfn(sizes, to, from + "mlp.", layer < sizes.dense_layers, model);
  }
  model.Vector("output_norm.weight", "model.norm.weight", sizes.dim);
  model.OutputMatrix(config, "lm_head", sizes.vocab, sizes.dim);
  model.ignored.push_back("*rotary_emb.inv_freq");
}

}  // namespace punt
