// Fast-dLLM v2 (arXiv:2509.26328): Qwen2.5 with block-causal attention, in blocks of bd_size. The logits of a position
// are at the row before it, as in the autoregressive model.
#include "weights/hf_llama_family.h"

namespace punt {

void DescribeFastDllmV2(const HfConfig& config, HfModel& model) {
  DescribeLlamaFamily(config, {.has_qkv_bias = true, .shift_logits = true, .block = BlockOf(config, "bd_size", 32)},
                      model);
}

}  // namespace punt
