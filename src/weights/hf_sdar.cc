// SDAR and TraDo: Qwen3 and Qwen3-MoE with block-causal attention. The released blocks are of 4 positions; variants
// with larger ones say so in block_size.
#include "weights/hf_llama_family.h"

namespace punt {
namespace {

constexpr std::int64_t kReleasedBlock = 4;

}  // namespace

void DescribeSdar(const HfConfig& config, HfModel& model) {
  DescribeLlamaFamily(config, {.has_head_norms = true, .block = BlockOf(config, "block_size", kReleasedBlock)}, model);
}

void DescribeSdarMoe(const HfConfig& config, HfModel& model) {
  DescribeLlamaFamily(
      config, {.has_head_norms = true, .has_experts = true, .block = BlockOf(config, "block_size", kReleasedBlock)},
      model);
}

}  // namespace punt
