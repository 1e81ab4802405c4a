#include "weights/hf_llama_family.h"

#include "base/check.h"

namespace punt {
namespace {

struct Sizes {
  explicit Sizes(const HfConfig& config)
      : dim(config.Size("hidden_size")),
        heads(config.Size("num_attention_heads", 65'536)),
        kv_heads(config.SizeOr("num_key_value_heads", heads, 65'536)),
        layers(config.Size("num_hidden_layers", HfConfig::kMostLayers)),
        hidden(config.Size("intermediate_size")),
        vocab(config.Size("vocab_size")) {
    const bool is_told = config.Has("head_dim");
    if (heads % kv_heads != 0 || (!is_told && dim % heads != 0)) {
      BadInput("{}: hidden_size {}, num_attention_heads {} and num_key_value_heads {} do not divide each other",
               config.origin(), dim, heads, kv_heads);
    }
    head_dim = is_told ? config.Size("head_dim", 65'536) : dim / heads;
  }

  std::int64_t dim, heads, kv_heads, layers, hidden, vocab;
  std::int64_t head_dim = 0;
  std::int64_t experts = 0;
  std::int64_t used = 0;
  std::int64_t expert_hidden = 0;
};

void DemandSupported(const HfConfig& config, const LlamaFamily& family) {
  config.Demand("hidden_act", "silu");
  config.Demand("use_sliding_window", false);
  config.Demand("mlp_bias", false);
  // Qwen2 has its biases without saying so.
  if (!family.has_qkv_bias) config.Demand("attention_bias", false);
  if (!family.has_experts) return;
  config.Demand("decoder_sparse_step", 1.0);
  config.Demand("norm_topk_prob", true);
  config.DemandAbsent("mlp_only_layers");
}

void AddAttention(const Sizes& s, const LlamaFamily& family, const std::string& to, const std::string& from,
                  HfModel& model) {
  const std::int64_t query_dim = s.heads * s.head_dim;
  const std::int64_t kv_dim = s.kv_heads * s.head_dim;
  const std::string attention = from + "self_attn.";
  model.Vector(to + "attn_norm.weight", from + "input_layernorm.weight", s.dim);
  model.Matrix(to + "attn_q", attention + "q_proj", query_dim, s.dim);
  model.Matrix(to + "attn_k", attention + "k_proj", kv_dim, s.dim);
  model.Matrix(to + "attn_v", attention + "v_proj", kv_dim, s.dim);
  if (family.has_qkv_bias) {
    model.Vector(to + "attn_q.bias", attention + "q_proj.bias", query_dim);
    model.Vector(to + "attn_k.bias", attention + "k_proj.bias", kv_dim);
    model.Vector(to + "attn_v.bias", attention + "v_proj.bias", kv_dim);
  }
  if (family.has_head_norms) {
    model.Vector(to + "attn_q_norm.weight", attention + "q_norm.weight", s.head_dim);
    model.Vector(to + "attn_k_norm.weight", attention + "k_norm.weight", s.head_dim);
  }
  model.Matrix(to + "attn_output", attention + "o_proj", s.dim, query_dim);
  model.Vector(to + "ffn_norm.weight", from + "post_attention_layernorm.weight", s.dim);
}

void AddFfn(const Sizes& s, const std::string& to, const std::string& from, HfModel& model) {
  if (s.experts == 0) {
    model.Matrix(to + "ffn_gate", from + "mlp.gate_proj", s.hidden, s.dim);
    model.Matrix(to + "ffn_up", from + "mlp.up_proj", s.hidden, s.dim);
    model.Matrix(to + "ffn_down", from + "mlp.down_proj", s.dim, s.hidden);
    return;
  }
  model.Matrix(to + "ffn_gate_inp", from + "mlp.gate", s.experts, s.dim);
  model.Matrix(to + "ffn_gate_exps", from + "mlp.experts.{}.gate_proj", s.expert_hidden, s.dim).stacked = s.experts;
  model.Matrix(to + "ffn_up_exps", from + "mlp.experts.{}.up_proj", s.expert_hidden, s.dim).stacked = s.experts;
  model.Matrix(to + "ffn_down_exps", from + "mlp.experts.{}.down_proj", s.dim, s.expert_hidden).stacked = s.experts;
}

}  // namespace

void DescribeLlamaFamily(const HfConfig& config, const LlamaFamily& family, HfModel& model) {
  DemandSupported(config, family);
  Sizes s(config);
  if (family.has_experts) {
    s.experts = config.Size("num_experts", HfConfig::kMostExperts);
    s.used = config.Size("num_experts_per_tok", s.experts);
    s.expert_hidden = config.Size("moe_intermediate_size");
  }
  model.SetDecoder({.context = config.Size("max_position_embeddings"),
                    .vocab = s.vocab,
                    .dim = s.dim,
                    .layers = s.layers,
                    .hidden = s.hidden,
                    .heads = s.heads,
                    .kv_heads = s.kv_heads,
                    .head_dim = s.head_dim,
                    .rope_dims = s.head_dim,
                    .rope_base = config.RopeBase(family.rope_base),
                    .norm_epsilon = config.RealOr("rms_norm_eps", 1e-6),
                    .shift_logits = family.shift_logits,
                    .block = family.block,
                    .experts = s.experts,
                    .experts_used = s.used,
                    .expert_hidden = s.expert_hidden});
  model.Matrix("token_embd", "model.embed_tokens", s.vocab, s.dim);
  for (std::int64_t layer = 0; layer < s.layers; ++layer) {
    const std::string to = fmt::format("blk.{}.", layer);
    const std::string from = fmt::format("model.layers.{}.", layer);
    AddAttention(s, family, to, from, model);
    AddFfn(s, to, from, model);
  }
  model.Vector("output_norm.weight", "model.norm.weight", s.dim);
  model.OutputMatrix(config, "lm_head", s.vocab, s.dim);
  model.ignored.push_back("*rotary_emb.inv_freq");
}

std::int64_t BlockOf(const HfConfig& config, const char* field, std::int64_t fallback) {
  constexpr std::int64_t kMostPositions = 65'536;
  return config.CountOr(field, fallback, kMostPositions);
}

}  // namespace punt
