// BERT and DistilBERT masked language models: post-norm, learned positions, erf GELU, a head of dense, GELU, norm and
// the tied embedding. DistilBERT has no token types and a fixed epsilon.
#include "base/check.h"
#include "weights/hf_model.h"

namespace punt {
namespace {

struct Sizes {
  std::int64_t dim, heads, layers, hidden, vocab, positions;
};

void SetKeys(const HfConfig& config, const Sizes& sizes, double epsilon, HfModel& model) {
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

void AddHeadMatrix(const HfConfig& config, const Sizes& sizes, const std::string& source, HfModel& model) {
  if (config.BooleanOr("tie_word_embeddings", true)) {
    model.ignored.push_back(source + ".weight");
  } else {
    model.Matrix("output", source, sizes.vocab, sizes.dim);
  }
}

}  // namespace

void DescribeBert(const HfConfig& config, HfModel& model) {
  config.Demand("hidden_act", "gelu");
  config.Demand("position_embedding_type", "absolute");
  config.Demand("is_decoder", false);
  const Sizes sizes{.dim = config.Size("hidden_size"),
                    .heads = config.Size("num_attention_heads"),
                    .layers = config.Size("num_hidden_layers", HfConfig::kMostLayers),
                    .hidden = config.Size("intermediate_size"),
                    .vocab = config.Size("vocab_size"),
                    .positions = config.Size("max_position_embeddings")};
  const std::int64_t types = config.SizeOr("type_vocab_size", 2);
  SetKeys(config, sizes, config.RealOr("layer_norm_eps", 1e-12), model);
  model.SetSize("token_type_count", types);

  const std::string embeddings = "bert.embeddings.";
  model.Matrix("token_embd", embeddings + "word_embeddings", sizes.vocab, sizes.dim);
  model.Matrix("token_types", embeddings + "token_type_embeddings", types, sizes.dim);
  model.Matrix("position_embd", embeddings + "position_embeddings", sizes.positions, sizes.dim);
  model.LayerNorm("token_embd_norm", embeddings + "LayerNorm", sizes.dim);
  for (std::int64_t layer = 0; layer < sizes.layers; ++layer) {
    const std::string to = fmt::format("blk.{}.", layer);
    const std::string from = fmt::format("bert.encoder.layer.{}.", layer);
    model.Linear(to + "attn_q", from + "attention.self.query", sizes.dim, sizes.dim);
    model.Linear(to + "attn_k", from + "attention.self.key", sizes.dim, sizes.dim);
    model.Linear(to + "attn_v", from + "attention.self.value", sizes.dim, sizes.dim);
    model.Linear(to + "attn_output", from + "attention.output.dense", sizes.dim, sizes.dim);
    model.LayerNorm(to + "attn_output_norm", from + "attention.output.LayerNorm", sizes.dim);
    model.Linear(to + "ffn_up", from + "intermediate.dense", sizes.hidden, sizes.dim);
    model.Linear(to + "ffn_down", from + "output.dense", sizes.dim, sizes.hidden);
    model.LayerNorm(to + "layer_output_norm", from + "output.LayerNorm", sizes.dim);
  }
  // TAPE's BERT for proteins is the same network; only its head has another name.
  const bool is_tape = IsArchitecture(config, "ProteinBertForMaskedLM", "protein_bert");
  const std::string head = is_tape ? "mlm." : "cls.predictions.";
  model.Linear("head_dense", head + "transform.dense", sizes.dim, sizes.dim);
  model.LayerNorm("head_norm", head + "transform.LayerNorm", sizes.dim);
  model.Vector("output.bias", head + "bias", sizes.vocab).sources.push_back(head + "decoder.bias");
  // Other heads: of BERT's second task, and of AntiBERTy's.
  model.ignored = {"bert.pooler.*", "cls.seq_relationship.*",       "cls.species.*",      "cls.chain.*",
                   "cls.graft.*",   "bert.embeddings.position_ids", head + "decoder.bias"};
  AddHeadMatrix(config, sizes, head + "decoder", model);
}

void DescribeDistilbert(const HfConfig& config, HfModel& model) {
  config.Demand("activation", "gelu");
  const Sizes sizes{.dim = config.Size("dim"),
                    .heads = config.Size("n_heads"),
                    .layers = config.Size("n_layers", HfConfig::kMostLayers),
                    .hidden = config.Size("hidden_dim"),
                    .vocab = config.Size("vocab_size"),
                    .positions = config.Size("max_position_embeddings")};
  SetKeys(config, sizes, 1e-12, model);

  const std::string embeddings = "distilbert.embeddings.";
  model.Matrix("token_embd", embeddings + "word_embeddings", sizes.vocab, sizes.dim);
  model.Matrix("position_embd", embeddings + "position_embeddings", sizes.positions, sizes.dim);
  model.LayerNorm("token_embd_norm", embeddings + "LayerNorm", sizes.dim);
  for (std::int64_t layer = 0; layer < sizes.layers; ++layer) {
    const std::string to = fmt::format("blk.{}.", layer);
    const std::string from = fmt::format("distilbert.transformer.layer.{}.", layer);
    model.Linear(to + "attn_q", from + "attention.q_lin", sizes.dim, sizes.dim);
    model.Linear(to + "attn_k", from + "attention.k_lin", sizes.dim, sizes.dim);
    model.Linear(to + "attn_v", from + "attention.v_lin", sizes.dim, sizes.dim);
    model.Linear(to + "attn_output", from + "attention.out_lin", sizes.dim, sizes.dim);
    model.LayerNorm(to + "attn_output_norm", from + "sa_layer_norm", sizes.dim);
    model.Linear(to + "ffn_up", from + "ffn.lin1", sizes.hidden, sizes.dim);
    model.Linear(to + "ffn_down", from + "ffn.lin2", sizes.dim, sizes.hidden);
    model.LayerNorm(to + "layer_output_norm", from + "output_layer_norm", sizes.dim);
  }
  model.Linear("head_dense", "vocab_transform", sizes.dim, sizes.dim);
  model.LayerNorm("head_norm", "vocab_layer_norm", sizes.dim);
  model.Vector("output.bias", "vocab_projector.bias", sizes.vocab);
  AddHeadMatrix(config, sizes, "vocab_projector", model);
}

}  // namespace punt
