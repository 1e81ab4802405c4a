// ALBERT (arXiv 1909.11942): BERT whose layers all have the weights of the first, with narrower embeddings, which a
// matrix widens before the layers and the head's dense layer makes narrow again.
//
// Tested by parity_test.cc.
#include "base/check.h"
#include "model/architecture.h"
#include "model/masked_lm_head.h"
#include "model/post_norm.h"

namespace punt {
namespace {

void Read(const Metadata& metadata, Hyperparameters& hyper) {
  hyper.shares_layers = true;
  hyper.token_types = metadata.IntegerOr("albert.token_type_count", 2);
  hyper.token_dim = metadata.Integer("albert.token_embedding_length");
  if (hyper.token_dim < 1 || hyper.token_dim > hyper.model_dim) {
    BadInput("{}: key 'albert.token_embedding_length' is {}, must lie in 1..{}", metadata.origin(), hyper.token_dim,
             hyper.model_dim);
  }
  ReadGelu(metadata, hyper);
}

void Require(const Hyperparameters& h, TensorTable& table) {
  RequirePostNormNetwork(h, table);
  RequireLinear(table, "token_embd_proj", h.token_dim, h.model_dim, -1);
}

ggml_tensor* Embed(Graph& graph) { return graph.Linear(EmbedWithPositions(graph), "token_embd_proj"); }

}  // namespace

const ArchitectureRow kAlbertRow = {
    .name = "albert",
    .summary = "ALBERT masked language models",
    .read = Read,
    .require = Require,
    .embed = Embed,
    .layer = PostNormLayer,
    .head = MaskedLmHead,
};

}  // namespace punt
