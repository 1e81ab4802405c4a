// LLaDA-MoE-7B-A1B (arXiv:2509.24389): OLMoE's layout with RMS norms on the heads of q and k, a softmax router whose
// weights are not renormalised, and RoPE over halves. Layers whose moe_layer_freq is 0 have a dense FFN instead.
#include "base/check.h"
#include "weights/hf_model.h"

namespace punt {
namespace {

void DemandSupportedRouter(const HfConfig& config) {
  config.Demand("hidden_act", "silu");
  config.Demand("qk_layernorm", true);
  config.Demand("attention_bias", false);
  config.Demand("moe_router_score_function", "softmax");
  config.Demand("moe_router_enable_expert_bias", false);
  config.Demand("norm_topk_prob", false);
  config.Demand("routed_scaling_factor", 1.0);
  config.Demand("partial_rotary_factor", 1.0);
  for (const char* field : {"clip_qkv", "shared_expert_intermediate_size", "router_num_group", "router_topk_group"}) {
    config.DemandAbsent(field);
  }
}

}  // namespace

void DescribeLladaMoe(const HfConfig& config, HfModel& model) {
  DemandSupportedRouter(config);
  const std::int64_t dim = config.Size("hidden_size");
  const std::int64_t heads = config.Size("num_attention_heads");
  const std::int64_t kv_heads = config.SizeOr("num_key_value_heads", heads);
  const std::int64_t layers = config.Size("num_hidden_layers", HfConfig::kMostLayers);
  const std::int64_t experts = config.Size("num_experts", HfConfig::kMostExperts);
  const std::int64_t used = config.Size("num_experts_per_tok", experts);
  const std::int64_t expert_hidden = config.Size("expert_intermediate_size");
  const std::int64_t dense_hidden = config.SizeOr("dense_intermediate_size", expert_hidden * used);
  const std::int64_t vocab = config.Size("vocab_size");
  std::vector<std::int64_t> is_moe(static_cast<std::size_t>(layers), 1);
  if (config.Has("moe_layer_freq")) is_moe = config.Integers("moe_layer_freq", is_moe.size(), 1);
  if (dim % heads != 0 || heads % kv_heads != 0) {
    BadInput("{}: hidden_size {}, num_attention_heads {} and num_key_value_heads {} do not divide each other",
             config.origin(), dim, heads, kv_heads);
  }
  const std::int64_t head_dim = dim / heads;

  model.SetDecoder({.context = config.Size("max_position_embeddings"),
                    .vocab = vocab,
                    .dim = dim,
                    .layers = layers,
                    .hidden = dense_hidden,
                    .heads = heads,
                    .kv_heads = kv_heads,
                    .rope_dims = head_dim,
                    .rope_base = config.RopeBase(10'000.0),
                    .norm_epsilon = config.RealOr("rms_norm_eps", 1e-5),
                    .experts = experts,
                    .experts_used = used,
                    .expert_hidden = expert_hidden});

  model.Matrix("token_embd", "model.embed_tokens", vocab, dim);
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::string to = fmt::format("blk.{}.", layer);
    const std::string from = fmt::format("model.layers.{}.", layer);
    const std::string attention = from + "self_attn.";
    model.Vector(to + "attn_norm.weight", from + "input_layernorm.weight", dim);
    model.Matrix(to + "attn_q", attention + "q_proj", dim, dim);
    model.Matrix(to + "attn_k", attention + "k_proj", kv_heads * head_dim, dim);
    model.Matrix(to + "attn_v", attention + "v_proj", kv_heads * head_dim, dim);
    model.Matrix(to + "attn_output", attention + "o_proj", dim, dim);
    model.Vector(to + "attn_q_norm.weight", attention + "q_norm.weight", head_dim);
    model.Vector(to + "attn_k_norm.weight", attention + "k_norm.weight", head_dim);
    model.Vector(to + "ffn_norm.weight", from + "post_attention_layernorm.weight", dim);
    if (is_moe[static_cast<std::size_t>(layer)] == 0) {
      model.Matrix(to + "ffn_gate", from + "mlp.gate_proj", dense_hidden, dim);
      model.Matrix(to + "ffn_up", from + "mlp.up_proj", dense_hidden, dim);
      model.Matrix(to + "ffn_down", from + "mlp.down_proj", dim, dense_hidden);
      continue;
    }
    model.Matrix(to + "ffn_gate_inp", from + "mlp.gate", experts, dim);
    model.Matrix(to + "ffn_gate_exps", from + "mlp.experts.{}.gate_proj", expert_hidden, dim).stacked = experts;
    model.Matrix(to + "ffn_up_exps", from + "mlp.experts.{}.up_proj", expert_hidden, dim).stacked = experts;
    model.Matrix(to + "ffn_down_exps", from + "mlp.experts.{}.down_proj", dim, expert_hidden).stacked = experts;
  }
  model.Vector("output_norm.weight", "model.norm.weight", dim);
  model.OutputMatrix(config, "lm_head", vocab, dim);
  model.ignored.push_back("*rotary_emb.inv_freq");
}

}  // namespace punt
