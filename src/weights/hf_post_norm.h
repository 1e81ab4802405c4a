// What BERT, RoBERTa, ALBERT and DistilBERT have in common as checkpoints.
#pragma once

#include <string>

#include "weights/hf_model.h"

namespace punt {

struct PostNormSizes {
  std::int64_t dim, heads, layers, hidden, vocab, positions;
};

/// The sizes by the names that all but DistilBERT give them.
PostNormSizes ReadPostNormSizes(const HfConfig& config);

/// Throws Error for heads that do not divide the width.
void SetPostNormKeys(const HfConfig& config, const PostNormSizes& sizes, double epsilon, HfModel& model);

/// Which GELU `field` names.
void SetGelu(const HfConfig& config, const char* field, HfModel& model);

/// Tables of words, segments and positions, `width` wide, and their norm. The rows of positions before `first` are left
/// out; `sizes.positions` are those that stay.
struct BertEmbeddings {
  std::int64_t width = 0;
  std::int64_t types = 0;
  std::int64_t first = 0;
};
void AddBertEmbeddings(const PostNormSizes& sizes, const BertEmbeddings& embeddings, const std::string& from,
                       HfModel& model);

/// The layers `from`0, `from`1, ..., in BERT's names.
void AddBertLayers(const PostNormSizes& sizes, const std::string& from, HfModel& model);

/// The matrix of a masked model's head: the embedding, unless the config says otherwise.
void AddTiedHead(const HfConfig& config, const std::string& source, std::int64_t vocab, std::int64_t dim,
                 HfModel& model);

}  // namespace punt
