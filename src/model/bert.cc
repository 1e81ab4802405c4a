// BERT as a masked language model (arXiv 1810.04805): learned positions and segments, post-norm layers, GELU.
// A file of llama.cpp's architecture of this name is an embedding model without the head and is refused by tensor.
//
// Tested by parity_test.cc.
#include "model/architecture.h"
#include "model/masked_lm_head.h"
#include "model/post_norm.h"

namespace punt {
namespace {

void Read(const Metadata& metadata, Hyperparameters& hyper) {
  hyper.token_types = metadata.IntegerOr(hyper.architecture + ".token_type_count",
                                         metadata.IntegerOr("tokenizer.ggml.token_type_count", 2));
  ReadGelu(metadata, hyper);
}

}  // namespace

const ArchitectureRow kBertRow = {
    .name = "bert",
    .summary = "BERT masked language models",
    .read = Read,
    .require = RequirePostNormNetwork,
    .embed = EmbedWithPositions,
    .layer = PostNormLayer,
    .head = MaskedLmHead,
};

}  // namespace punt
