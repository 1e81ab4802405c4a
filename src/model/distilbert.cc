// DistilBERT (arXiv 1910.01108): BERT with half the layers and no segments.
//
// Tested by parity_test.cc.
#include "model/architecture.h"
#include "model/masked_lm_head.h"
#include "model/post_norm.h"

namespace punt {

const ArchitectureRow kDistilbertRow = {
    .name = "distilbert",
    .summary = "DistilBERT masked language models",
    .read = ReadGelu,
    .require = RequirePostNormNetwork,
    .embed = EmbedWithPositions,
    .layer = PostNormLayer,
    .head = MaskedLmHead,
};

}  // namespace punt
