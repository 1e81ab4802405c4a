// BERT and DistilBERT masked language models: post-norm, learned positions, a GELU, a head of dense, GELU, norm and
// the tied embedding. DistilBERT has no token types and a fixed epsilon.
#include <algorithm>

#include "base/check.h"
#include "weights/hf_post_norm.h"

namespace punt {
namespace {

/// TAPE's BERT for proteins is the same network; only its head has another name.
bool IsTape(const HfConfig& config) {
  const std::vector<std::string> classes = config.Strings("architectures");
  return config.StringOr("model_type", "") == "protein_bert" ||
         std::find(classes.begin(), classes.end(), "ProteinBertForMaskedLM") != classes.end();
}

}  // namespace

void DescribeBert(const HfConfig& config, HfModel& model) {
  config.Demand("position_embedding_type", "absolute");
  config.Demand("is_decoder", false);
  const PostNormSizes sizes = ReadPostNormSizes(config);
  SetPostNormKeys(config, sizes, config.RealOr("layer_norm_eps", 1e-12), model);
  SetGelu(config, "hidden_act", model);
  const std::int64_t types = config.SizeOr("type_vocab_size", 2);
  AddBertEmbeddings(sizes, {.width = sizes.dim, .types = types}, "bert.embeddings.", model);
  AddBertLayers(sizes, "bert.encoder.layer.", model);
  const std::string head = IsTape(config) ? "mlm." : "cls.predictions.";
  model.Linear("head_dense", head + "transform.dense", sizes.dim, sizes.dim);
  model.LayerNorm("head_norm", head + "transform.LayerNorm", sizes.dim);
  model.Vector("output.bias", head + "bias", sizes.vocab).sources.push_back(head + "decoder.bias");
  // The head of BERT's second task, and what follows from other tensors.
  model.ignored = {"bert.pooler.*", "cls.seq_relationship.*", "bert.embeddings.position_ids",
                   "bert.embeddings.token_type_ids", head + "decoder.bias"};
  AddTiedHead(config, head + "decoder", sizes.vocab, sizes.dim, model);
}

void DescribeDistilbert(const HfConfig& config, HfModel& model) {
  const PostNormSizes sizes{.dim = config.Size("dim"),
                            .heads = config.Size("n_heads"),
                            .layers = config.Size("n_layers", HfConfig::kMostLayers),
                            .hidden = config.Size("hidden_dim"),
                            .vocab = config.Size("vocab_size"),
                            .positions = config.Size("max_position_embeddings")};
  SetPostNormKeys(config, sizes, 1e-12, model);
  SetGelu(config, "activation", model);

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
  AddTiedHead(config, "vocab_projector", sizes.vocab, sizes.dim, model);
}

}  // namespace punt
