// RND1 (Radical Numerics): Qwen3-MoE without causality. The logits of a position are at the row before it.
#include "weights/hf_llama_family.h"

namespace punt {

void DescribeRnd1(const HfConfig& config, HfModel& model) {
  DescribeLlamaFamily(config, {.has_head_norms = true, .has_experts = true, .shift_logits = true}, model);
}

}  // namespace punt
