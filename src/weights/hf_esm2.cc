// ESM-2 (Lin et al. 2023) and its fine-tunings such as MemDLM: a pre-norm BERT with RoPE for proteins. token_dropout
// and the epsilon of the norms differ between checkpoints, so both come from config.json, with Hugging Face's
// defaults.
#include "base/check.h"
#include "weights/hf_model.h"

namespace punt {

void DescribeEsm2(const HfConfig& config, HfModel& model) {
  if (config.StringOr("position_embedding_type", "absolute") != "rotary") {
    BadInput("{}: position_embedding_type must be \"rotary\", is \"{}\"", config.origin(),
             config.StringOr("position_embedding_type", "absolute"));
  }
  config.Demand("hidden_act", "gelu");
  config.Demand("emb_layer_norm_before", false);
  config.Demand("is_folding_model", false);
  const std::int64_t dim = config.Size("hidden_size");
  const std::int64_t heads = config.Size("num_attention_heads");
  const std::int64_t layers = config.Size("num_hidden_layers", HfConfig::kMostLayers);
  const std::int64_t hidden = config.Size("intermediate_size");
  const std::int64_t vocab = config.Size("vocab_size");
  if (dim % heads != 0) BadInput("{}: hidden_size {} does not give {} heads", config.origin(), dim, heads);

  model.SetSize("context_length", config.SizeOr("max_position_embeddings", 1026));
  model.SetSize("embedding_length", dim);
  model.SetSize("block_count", layers);
  model.SetSize("feed_forward_length", hidden);
  model.SetSize("attention.head_count", heads);
  model.SetReal("attention.layer_norm_epsilon", config.RealOr("layer_norm_eps", 1e-12));
  model.SetFlag("attention.causal", false);
  model.SetReal("rope.freq_base", 10'000.0);
  model.SetSize("rope.dimension_count", dim / heads);
  model.SetFlag("token_dropout", config.BooleanOr("token_dropout", false));
  model.SetSize("vocab_size", vocab);
  gguf_set_val_bool(model.keys.get(), "diffusion.shift_logits", false);

  model.Matrix("token_embd", "esm.embeddings.word_embeddings", vocab, dim);
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::string to = fmt::format("blk.{}.", layer);
    const std::string from = fmt::format("esm.encoder.layer.{}.", layer);
    model.LayerNorm(to + "attn_norm", from + "attention.LayerNorm", dim);
    model.Linear(to + "attn_q", from + "attention.self.query", dim, dim);
    model.Linear(to + "attn_k", from + "attention.self.key", dim, dim);
    model.Linear(to + "attn_v", from + "attention.self.value", dim, dim);
    model.Linear(to + "attn_output", from + "attention.output.dense", dim, dim);
    model.LayerNorm(to + "ffn_norm", from + "LayerNorm", dim);
    model.Linear(to + "ffn_up", from + "intermediate.dense", hidden, dim);
    model.Linear(to + "ffn_down", from + "output.dense", dim, hidden);
  }
  model.LayerNorm("output_norm", "esm.encoder.emb_layer_norm_after", dim);
  model.Linear("head_dense", "lm_head.dense", dim, dim);
  model.LayerNorm("head_norm", "lm_head.layer_norm", dim);
  model.Vector("output.bias", "lm_head.bias", vocab).sources.push_back("lm_head.decoder.bias");
  model.ignored = {"*rotary_embeddings.inv_freq",
                   "esm.embeddings.position_embeddings.weight",
                   "esm.embeddings.position_ids",
                   "esm.contact_head.*",
                   "esm.pooler.*",
                   "lm_head.decoder.bias"};
  if (config.BooleanOr("tie_word_embeddings", true)) {
    model.ignored.push_back("lm_head.decoder.weight");
  } else {
    model.Matrix("output", "lm_head.decoder", vocab, dim);
  }
}

}  // namespace punt
