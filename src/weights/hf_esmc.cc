// ESM C, as transformers has it since 5.13 (model_type esmc). Heads of other tasks aside, every released checkpoint has
// norms of queries and keys and no biases in attention and feed-forward.
#include <cmath>

#include "base/check.h"
#include "weights/hf_model.h"

namespace punt {
namespace {

constexpr double kUnscaledLayers = 36;  // a network of so many layers adds what they compute as it is

}  // namespace

void DescribeEsmc(const HfConfig& config, HfModel& model) {
  config.Demand("hidden_act", "silu");
  config.Demand("attention_bias", false);
  config.Demand("mlp_bias", false);
  const std::int64_t dim = config.Size("hidden_size");
  const std::int64_t heads = config.Size("num_attention_heads");
  const std::int64_t layers = config.Size("num_hidden_layers", HfConfig::kMostLayers);
  const std::int64_t hidden = config.Size("intermediate_size");
  const std::int64_t vocab = config.SizeOr("vocab_size", 64);
  const std::int64_t head_dim = config.SizeOr("head_dim", std::max<std::int64_t>(dim / heads, 1));
  if (head_dim * heads != dim || config.SizeOr("num_key_value_heads", heads) != heads) {
    BadInput("{}: hidden_size {} is not num_attention_heads {} of {} numbers each", config.origin(), dim, heads,
             head_dim);
  }
  model.SetSize("context_length", config.SizeOr("max_position_embeddings", 2048));
  model.SetSize("vocab_size", vocab);
  model.SetSize("embedding_length", dim);
  model.SetSize("block_count", layers);
  model.SetSize("feed_forward_length", hidden);
  model.SetSize("attention.head_count", heads);
  model.SetReal("attention.layer_norm_epsilon", 1e-5);
  model.SetFlag("attention.causal", false);
  model.SetReal("rope.freq_base", config.RopeBase(10'000.0));
  model.SetSize("rope.dimension_count", head_dim);
  model.SetReal("residual_scale", std::sqrt(kUnscaledLayers / static_cast<double>(layers)));
  gguf_set_val_bool(model.keys.get(), "diffusion.shift_logits", false);

  model.Matrix("token_embd", "esmc.embed_tokens", vocab, dim);
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::string to = fmt::format("blk.{}.", layer);
    const std::string from = fmt::format("esmc.layers.{}.", layer);
    model.LayerNorm(to + "attn_norm", from + "input_layernorm", dim);
    model.Matrix(to + "attn_q", from + "self_attn.q_proj", dim, dim);
    model.Matrix(to + "attn_k", from + "self_attn.k_proj", dim, dim);
    model.Matrix(to + "attn_v", from + "self_attn.v_proj", dim, dim);
    model.Vector(to + "attn_q_norm.weight", from + "self_attn.q_norm.weight", dim);
    model.Vector(to + "attn_k_norm.weight", from + "self_attn.k_norm.weight", dim);
    model.Matrix(to + "attn_output", from + "self_attn.o_proj", dim, dim);
    model.LayerNorm(to + "ffn_norm", from + "post_attention_layernorm", dim);
    model.Matrix(to + "ffn_gate", from + "mlp.gate_proj", hidden, dim);
    model.Matrix(to + "ffn_up", from + "mlp.up_proj", hidden, dim);
    model.Matrix(to + "ffn_down", from + "mlp.down_proj", dim, hidden);
  }
  model.Vector("output_norm.weight", "esmc.norm.weight", dim);
  model.Linear("head_dense", "lm_head.dense", dim, dim);
  model.LayerNorm("head_norm", "lm_head.layer_norm", dim);
  model.Vector("output.bias", "lm_head.decoder.bias", vocab);
  model.OutputMatrix(config, "lm_head.decoder", vocab, dim);
  model.ignored.push_back("*rotary_emb.inv_freq");
}

}  // namespace punt
