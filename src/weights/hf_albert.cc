// ALBERT (arXiv:1909.11942): BERT with one layer that is applied again and again, and embeddings that are narrower than
// the layers. The layer's tensors are written once, as blk.0.
#include "weights/hf_post_norm.h"

namespace punt {

void DescribeAlbert(const HfConfig& config, HfModel& model) {
  config.Demand("position_embedding_type", "absolute");
  config.Demand("num_hidden_groups", 1.0);
  config.Demand("inner_group_num", 1.0);
  const PostNormSizes sizes = ReadPostNormSizes(config);
  const std::int64_t width = config.SizeOr("embedding_size", 128);
  SetPostNormKeys(config, sizes, config.RealOr("layer_norm_eps", 1e-12), model);
  const char* activation = "hidden_act";
  if (config.Has(activation)) {
    SetGelu(config, activation, model);
  } else {
    gguf_set_val_str(model.keys.get(), "albert.hidden_activation", "gelu_new");
  }
  model.SetSize("token_embedding_length", width);
  const std::int64_t types = config.SizeOr("type_vocab_size", 2);
  AddBertEmbeddings(sizes, {.width = width, .types = types}, "albert.embeddings.", model);
  model.Linear("token_embd_proj", "albert.encoder.embedding_hidden_mapping_in", sizes.dim, width);
  const std::string to = "blk.0.";
  const std::string from = "albert.encoder.albert_layer_groups.0.albert_layers.0.";
  model.Linear(to + "attn_q", from + "attention.query", sizes.dim, sizes.dim);
  model.Linear(to + "attn_k", from + "attention.key", sizes.dim, sizes.dim);
  model.Linear(to + "attn_v", from + "attention.value", sizes.dim, sizes.dim);
  model.Linear(to + "attn_output", from + "attention.dense", sizes.dim, sizes.dim);
  model.LayerNorm(to + "attn_output_norm", from + "attention.LayerNorm", sizes.dim);
  model.Linear(to + "ffn_up", from + "ffn", sizes.hidden, sizes.dim);
  model.Linear(to + "ffn_down", from + "ffn_output", sizes.dim, sizes.hidden);
  model.LayerNorm(to + "layer_output_norm", from + "full_layer_layer_norm", sizes.dim);
  model.Linear("head_dense", "predictions.dense", width, sizes.dim);
  model.LayerNorm("head_norm", "predictions.LayerNorm", width);
  model.Vector("output.bias", "predictions.bias", sizes.vocab).sources.push_back("predictions.decoder.bias");
  model.ignored = {"albert.pooler.*", "albert.pooler_activation.*", "sop_classifier.*",
                   "albert.embeddings.position_ids", "predictions.decoder.bias"};
  AddTiedHead(config, "predictions.decoder", sizes.vocab, width, model);
}

}  // namespace punt
