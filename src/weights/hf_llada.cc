// LLaDA-8B (arXiv:2502.09992): an OLMo-style checkpoint (model.transformer.blocks.N) with a Llama block.
//
// llama.cpp's graph for `llada` rotates adjacent pairs of a head, the checkpoint was trained with halves, so the rows
// of q and k are permuted here as llama.cpp's converter does: within a head, row p * half + j becomes row 2 j + p.
// Scores q.k do not change, since both sides are permuted alike. GGUF files on model hubs are in this order too.
#include "base/check.h"
#include "weights/hf_model.h"

namespace punt {
namespace {

void DemandLlamaBlock(const HfConfig& config) {
  config.Demand("block_type", "llama");
  config.Demand("activation_type", "silu");
  config.Demand("layer_norm_type", "rms");
  config.Demand("rope", true);
  config.Demand("block_group_size", 1.0);
  for (const char* field : {"alibi", "include_bias", "include_qkv_bias", "bias_for_layer_norm", "attention_layer_norm",
                            "input_emb_norm", "scale_logits"}) {
    config.Demand(field, false);
  }
}

std::int64_t KeyValueHeads(const HfConfig& config, std::int64_t heads) {
  const std::int64_t fallback = config.BooleanOr("multi_query_attention", false) ? 1 : heads;
  return config.SizeOr("n_kv_heads", fallback);
}

}  // namespace

void DescribeLlada(const HfConfig& config, HfModel& model) {
  DemandLlamaBlock(config);
  const std::int64_t dim = config.Size("d_model");
  const std::int64_t heads = config.Size("n_heads");
  const std::int64_t kv_heads = KeyValueHeads(config, heads);
  const std::int64_t layers = config.Size("n_layers", HfConfig::kMostLayers);
  const std::int64_t hidden = config.SizeOr("mlp_hidden_size", 0) > 0
                                  ? config.Size("mlp_hidden_size")
                                  : static_cast<std::int64_t>(config.CountOr("mlp_ratio", 4, 1024)) * dim;
  const std::int64_t vocab = config.SizeOr("embedding_size", config.Size("vocab_size"));
  if (dim % heads != 0 || (dim / heads) % 2 != 0) {
    BadInput("{}: d_model {} does not give {} heads of an even size", config.origin(), dim, heads);
  }
  if (heads % kv_heads != 0) BadInput("{}: n_heads {} is not a multiple of {}", config.origin(), heads, kv_heads);
  const std::int64_t head_dim = dim / heads;

  model.SetDecoder({.context = config.SizeOr("max_sequence_length", 4096),
                    .vocab = vocab,
                    .dim = dim,
                    .layers = layers,
                    .hidden = hidden,
                    .heads = heads,
                    .kv_heads = kv_heads,
                    .rope_dims = head_dim,
                    .rope_base = config.RopeBase(10'000.0),
                    .norm_epsilon = config.RealOr("rms_norm_eps", 1e-5)});

  const std::string top = "model.transformer.";
  model.Matrix("token_embd", top + "wte", vocab, dim);
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::string to = fmt::format("blk.{}.", layer);
    const std::string from = fmt::format("{}blocks.{}.", top, layer);
    model.Vector(to + "attn_norm.weight", from + "attn_norm.weight", dim);
    model.Matrix(to + "attn_q", from + "q_proj", dim, dim).permuted_heads = static_cast<int>(heads);
    model.Matrix(to + "attn_k", from + "k_proj", kv_heads * head_dim, dim).permuted_heads = static_cast<int>(kv_heads);
    model.Matrix(to + "attn_v", from + "v_proj", kv_heads * head_dim, dim);
    model.Matrix(to + "attn_output", from + "attn_out", dim, dim);
    model.Vector(to + "ffn_norm.weight", from + "ff_norm.weight", dim);
    model.Matrix(to + "ffn_gate", from + "ff_proj", hidden, dim);
    model.Matrix(to + "ffn_up", from + "up_proj", hidden, dim);
    model.Matrix(to + "ffn_down", from + "ff_out", dim, hidden);
  }
  model.Vector("output_norm.weight", top + "ln_f.weight", dim);
  if (config.BooleanOr("weight_tying", false)) {
    model.ignored = {top + "ff_out.weight"};
  } else {
    model.Matrix("output", top + "ff_out", vocab, dim);
  }
  model.ignored.push_back("*rotary_emb.inv_freq");
}

}  // namespace punt
