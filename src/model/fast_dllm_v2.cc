// Fast-dLLM v2 (arXiv 2509.26328): Qwen2.5 with block-causal attention and shifted logits: the first position of a
// block is predicted by the last row of the block before it.
//
// Tested by parity_test.cc.
#include "model/architecture.h"
#include "model/pre_norm.h"

namespace punt {
namespace {

constexpr std::int64_t kReleasedBlock = 32;

void Read(const Metadata& metadata, Hyperparameters& hyper) {
  hyper.rope = RopeStyle::kHalves;
  hyper.shift_logits = metadata.BooleanOr("diffusion.shift_logits", true);
  ReadAttentionBlock(metadata, kReleasedBlock, hyper);
}

}  // namespace

const ArchitectureRow kFastDllmV2Row = {
    .name = "fast-dllm-v2",
    .summary = "Fast-dLLM v2",
    .read = Read,
    .require = RequireDenseNetwork,
    .embed = EmbedTokens,
    .layer = DenseLayer,
    .head = PreNormHead,
};

}  // namespace punt
