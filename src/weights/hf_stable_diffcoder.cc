// Stable-DiffCoder-8B (ByteDance Seed): Seed-Coder's Llama, trained on in blocks of 4 positions. Its config says that
// it is a Llama; that its code comes with it tells it from the autoregressive one.
#include "weights/hf_llama_family.h"

namespace punt {
namespace {

constexpr std::int64_t kReleasedBlock = 4;

}  // namespace

bool IsStableDiffcoder(const HfConfig& config) {
  constexpr std::int64_t kSeedVocabulary = 155'136;
  const bool is_llama = config.StringOr("model_type", "") == "llama" && config.Has("auto_map");
  return is_llama && (config.Has("block_size") || config.SizeOr("vocab_size", 1) == kSeedVocabulary);
}

void DescribeStableDiffcoder(const HfConfig& config, HfModel& model) {
  DescribeLlamaFamily(config, {.block = BlockOf(config, "block_size", kReleasedBlock)}, model);
}

}  // namespace punt
