// Dream-7B (arXiv:2508.15487): a Qwen2.5 checkpoint, with biases on q, k and v, RoPE over halves, and the logits of a
// position at the row before it (diffusion.shift_logits).
#include "base/check.h"
#include "weights/hf_model.h"

namespace punt {

void DescribeDream(const HfConfig& config, HfModel& model) {
  config.Demand("hidden_act", "silu");
  config.Demand("use_sliding_window", false);
  const std::int64_t dim = config.Size("hidden_size");
  const std::int64_t heads = config.Size("num_attention_heads");
  const std::int64_t kv_heads = config.SizeOr("num_key_value_heads", heads);
  const std::int64_t layers = config.Size("num_hidden_layers", HfConfig::kMostLayers);
  const std::int64_t hidden = config.Size("intermediate_size");
  const std::int64_t vocab = config.Size("vocab_size");
  if (dim % heads != 0 || heads % kv_heads != 0) {
    BadInput("{}: hidden_size {}, num_attention_heads {} and num_key_value_heads {} do not divide each other",
             config.origin(), dim, heads, kv_heads);
  }
  const std::int64_t head_dim = dim / heads;

  model.SetDecoder({.context = config.Size("max_position_embeddings"),
                    .vocab = vocab,
                    .dim = dim,
                    .layers = layers,
                    .hidden = hidden,
                    .heads = heads,
                    .kv_heads = kv_heads,
                    .rope_dims = head_dim,
                    .rope_base = config.RopeBase(10'000.0),
                    .norm_epsilon = config.RealOr("rms_norm_eps", 1e-6),
                    .shift_logits = true});

  model.Matrix("token_embd", "model.embed_tokens", vocab, dim);
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::string to = fmt::format("blk.{}.", layer);
    const std::string from = fmt::format("model.layers.{}.", layer);
    const std::string attention = from + "self_attn.";
    model.Vector(to + "attn_norm.weight", from + "input_layernorm.weight", dim);
    model.Matrix(to + "attn_q", attention + "q_proj", dim, dim);
    model.Matrix(to + "attn_k", attention + "k_proj", kv_heads * head_dim, dim);
    model.Matrix(to + "attn_v", attention + "v_proj", kv_heads * head_dim, dim);
    model.Vector(to + "attn_q.bias", attention + "q_proj.bias", dim).is_optional = true;
    model.Vector(to + "attn_k.bias", attention + "k_proj.bias", kv_heads * head_dim).is_optional = true;
    model.Vector(to + "attn_v.bias", attention + "v_proj.bias", kv_heads * head_dim).is_optional = true;
    model.Matrix(to + "attn_output", attention + "o_proj", dim, dim);
    model.Vector(to + "ffn_norm.weight", from + "post_attention_layernorm.weight", dim);
    model.Matrix(to + "ffn_gate", from + "mlp.gate_proj", hidden, dim);
    model.Matrix(to + "ffn_up", from + "mlp.up_proj", hidden, dim);
    model.Matrix(to + "ffn_down", from + "mlp.down_proj", dim, hidden);
  }
  model.Vector("output_norm.weight", "model.norm.weight", dim);
  model.OutputMatrix(config, "lm_head", vocab, dim);
  model.ignored.push_back("*rotary_emb.inv_freq");
}

}  // namespace punt
