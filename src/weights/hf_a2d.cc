// Tiny-A2D (dllm): a small Qwen3, Qwen2 or Llama, trained on as a masked diffusion model. Nothing changes but the
// attention, which is not causal, and no logits are shifted. Those trained block by block have block-causal attention;
// their config does not say so unless it has block_size.
#include <algorithm>

#include "weights/hf_llama_family.h"

namespace punt {

void DescribeA2d(const HfConfig& config, HfModel& model) {
  std::vector<std::string> names = config.Strings("architectures");
  names.push_back(config.StringOr("model_type", ""));
  const auto is = [&](const char* upper, const char* lower) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return name.find(upper) != name.npos || name.find(lower) != name.npos;
    });
  };
  DescribeLlamaFamily(config,
                      {.has_qkv_bias = is("Qwen2", "qwen2"),
                       .has_head_norms = is("Qwen3", "qwen3"),
                       .block = BlockOf(config, "block_size", 0)},
                      model);
}

}  // namespace punt
