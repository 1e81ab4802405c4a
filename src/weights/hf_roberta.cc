// RoBERTa (arXiv:1907.11692): BERT's network with another head. The first positions belong to the padding, so that
// position i has the row i + pad_token_id + 1 of the table; the rows before are left out, as in llama.cpp's converter.
#include "base/check.h"
#include "weights/hf_post_norm.h"

namespace punt {

void DescribeRoberta(const HfConfig& config, HfModel& model) {
  config.Demand("position_embedding_type", "absolute");
  config.Demand("is_decoder", false);
  PostNormSizes sizes = ReadPostNormSizes(config);
  const std::int64_t rows = sizes.positions;
  const std::int64_t first = config.CountOr("pad_token_id", 1) + 1;
  if (first >= rows) {
    BadInput("{}: max_position_embeddings is {}, which leaves no position after pad_token_id {}", config.origin(), rows,
             first - 1);
  }
  sizes.positions = rows - first;
  SetPostNormKeys(config, sizes, config.RealOr("layer_norm_eps", 1e-12), model);
  SetGelu(config, "hidden_act", model);
  const std::int64_t types = config.SizeOr("type_vocab_size", 1);
  AddBertEmbeddings(sizes, {.width = sizes.dim, .types = types, .first = first}, "roberta.embeddings.", model);
  AddBertLayers(sizes, "roberta.encoder.layer.", model);
  model.Linear("head_dense", "lm_head.dense", sizes.dim, sizes.dim);
  model.LayerNorm("head_norm", "lm_head.layer_norm", sizes.dim);
  model.Vector("output.bias", "lm_head.bias", sizes.vocab).sources.push_back("lm_head.decoder.bias");
  model.ignored = {"roberta.pooler.*", "roberta.embeddings.position_ids", "roberta.embeddings.token_type_ids",
                   "lm_head.decoder.bias"};
  AddTiedHead(config, "lm_head.decoder", sizes.vocab, sizes.dim, model);
}

}  // namespace punt
