#include "weights/hf_post_norm.h"

#include "base/check.h"

namespace punt {

PostNormSizes ReadPostNormSizes(const HfConfig& config) {
  return {.dim = config.Size("hidden_size"),
          .heads = config.Size("num_attention_heads"),
          .layers = config.Size("num_hidden_layers", HfConfig::kMostLayers),
          .hidden = config.Size("intermediate_size"),
          .vocab = config.Size("vocab_size"),
          .positions = config.Size("max_position_embeddings")};
}

void SetPostNormKeys(const HfConfig& config, const PostNormSizes& sizes, double epsilon, HfModel& model) {
  if (sizes.dim % sizes.heads != 0) {
    BadInput("{}: a width of {} does not give {} heads", config.origin(), sizes.dim, sizes.heads);
  }
  model.SetSize("context_length", sizes.positions);
  model.SetSize("embedding_length", sizes.dim);
  model.SetSize("block_count", sizes.layers);
  model.SetSize("feed_forward_length", sizes.hidden);
  model.SetSize("attention.head_count", sizes.heads);
  model.SetReal("attention.layer_norm_epsilon", epsilon);
  model.SetFlag("attention.causal", false);
  model.SetSize("vocab_size", sizes.vocab);
  gguf_set_val_bool(model.keys.get(), "diffusion.shift_logits", false);
}

void SetGelu(const HfConfig& config, const char* field, HfModel& model) {
  const std::string name = config.Gelu(field);
  if (name != "gelu")
    gguf_set_val_str(model.keys.get(), (model.architecture + ".hidden_activation").c_str(), name.c_str());
}

void AddBertEmbeddings(const PostNormSizes& sizes, const BertEmbeddings& embeddings, const std::string& from,
                       HfModel& model) {
  const auto& [width, types, first] = embeddings;
  model.SetSize("token_type_count", types);
  model.Matrix("token_embd", from + "word_embeddings", sizes.vocab, width);
  model.Matrix("token_types", from + "token_type_embeddings", types, width);
  model.Matrix("position_embd", from + "position_embeddings", sizes.positions + first, width).first_row = first;
  model.LayerNorm("token_embd_norm", from + "LayerNorm", width);
}

void AddBertLayers(const PostNormSizes& sizes, const std::string& from_all, HfModel& model) {
  for (std::int64_t layer = 0; layer < sizes.layers; ++layer) {
    const std::string to = fmt::format("blk.{}.", layer);
    const std::string from = fmt::format("{}{}.", from_all, layer);
    model.Linear(to + "attn_q", from + "attention.self.query", sizes.dim, sizes.dim);
    model.Linear(to + "attn_k", from + "attention.self.key", sizes.dim, sizes.dim);
    model.Linear(to + "attn_v", from + "attention.self.value", sizes.dim, sizes.dim);
    model.Linear(to + "attn_output", from + "attention.output.dense", sizes.dim, sizes.dim);
    model.LayerNorm(to + "attn_output_norm", from + "attention.output.LayerNorm", sizes.dim);
    model.Linear(to + "ffn_up", from + "intermediate.dense", sizes.hidden, sizes.dim);
    model.Linear(to + "ffn_down", from + "output.dense", sizes.dim, sizes.hidden);
    model.LayerNorm(to + "layer_output_norm", from + "output.LayerNorm", sizes.dim);
  }
}

void AddTiedHead(const HfConfig& config, const std::string& source, std::int64_t vocab, std::int64_t dim,
                 HfModel& model) {
  if (config.BooleanOr("tie_word_embeddings", true)) {
    model.ignored.push_back(source + ".weight");
  } else {
    model.Matrix("output", source, vocab, dim);
  }
}

}  // namespace punt
