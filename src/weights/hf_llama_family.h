// What decoders with RMS norms, RoPE and SwiGLU have in common as checkpoints: Llama, Qwen2, Qwen3 and Qwen3-MoE, which
// most diffusion models were made from.
#pragma once

#include "weights/hf_model.h"

namespace punt {

/// What tells the families apart.
struct LlamaFamily {
  bool has_qkv_bias = false;    // Qwen2
  bool has_head_norms = false;  // Qwen3: RMS norms of the heads of q and k
  bool has_experts = false;     // Qwen3-MoE
  bool shift_logits = false;    // a row predicts the position after it
  std::int64_t block = 0;       // positions per block of block-causal attention; 0: all see all
  double rope_base = 10'000;    // if the config does not say
};

/// Keys and tensors. Throws Error naming the file and the field for what the family does not have.
void DescribeLlamaFamily(const HfConfig& config, const LlamaFamily& family, HfModel& model);

/// Positions per block: `field`, if the config has it.
std::int64_t BlockOf(const HfConfig& config, const char* field, std::int64_t fallback);

}  // namespace punt
