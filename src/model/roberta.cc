// RoBERTa (arXiv 1907.11692): BERT with one segment and byte-level BPE. The rows of the position table that the
// original keeps for padding are not in the file.
//
// Tested by parity_test.cc.
#include "model/architecture.h"
#include "model/masked_lm_head.h"
#include "model/post_norm.h"

namespace punt {
namespace {

void Read(const Metadata& metadata, Hyperparameters& hyper) {
  hyper.token_types = metadata.IntegerOr(hyper.architecture + ".token_type_count", 1);
  ReadGelu(metadata, hyper);
}

}  // namespace

const ArchitectureRow kRobertaRow = {
    .name = "roberta",
    .summary = "RoBERTa masked language models",
    .read = Read,
    .require = RequirePostNormNetwork,
    .embed = EmbedWithPositions,
    .layer = PostNormLayer,
    .head = MaskedLmHead,
};

}  // namespace punt
