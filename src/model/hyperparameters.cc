#include "model/hyperparameters.h"

#include <cmath>

#include "base/check.h"

namespace punt {
namespace {

constexpr std::int64_t kMostLayers = 4096;
constexpr std::int64_t kMostDims = 1 << 20;
constexpr std::int64_t kMostTokens = 1 << 24;

/// A plausible count: absurd numbers in a header must not become absurd allocations.
std::int64_t Count(const Metadata& metadata, const std::string& key, std::int64_t most) {
  const std::int64_t value = metadata.Integer(key);
  if (value < 1 || value > most) BadInput("{}: key '{}' is {}, must lie in 1..{}", metadata.origin(), key, value, most);
  return value;
}

std::int64_t CountOr(const Metadata& metadata, const std::string& key, std::int64_t most, std::int64_t fallback) {
  return metadata.Has(key) ? Count(metadata, key, most) : fallback;
}

std::int64_t VocabSize(const Metadata& metadata, const std::string& prefix) {
  if (metadata.Has(prefix + "vocab_size")) return Count(metadata, prefix + "vocab_size", kMostTokens);
  return static_cast<std::int64_t>(metadata.Strings("tokenizer.ggml.tokens").size());
}

double Epsilon(const Metadata& metadata, const std::string& prefix) {
  const std::string rms = prefix + "attention.layer_norm_rms_epsilon";
  const std::string key = metadata.Has(rms) ? rms : prefix + "attention.layer_norm_epsilon";
  const double value = metadata.Real(key);
  if (!(value >= 0 && value < 1)) BadInput("{}: key '{}' is {}, must lie in [0, 1)", metadata.origin(), key, value);
  return value;
}

}  // namespace

Hyperparameters ReadCommonHyperparameters(const Metadata& metadata) {
  Hyperparameters h;
  h.architecture = metadata.String("general.architecture");
  const std::string prefix = h.architecture + ".";
  h.vocab_size = VocabSize(metadata, prefix);
  h.context_length = Count(metadata, prefix + "context_length", kMostTokens);
  h.model_dim = Count(metadata, prefix + "embedding_length", kMostDims);
  h.layers = Count(metadata, prefix + "block_count", kMostLayers);
  h.feed_forward_dim = CountOr(metadata, prefix + "feed_forward_length", kMostDims, 0);
  h.heads = Count(metadata, prefix + "attention.head_count", kMostDims);
  h.kv_heads = CountOr(metadata, prefix + "attention.head_count_kv", kMostDims, h.heads);
  if (h.heads % h.kv_heads != 0) {
    BadInput("{}: {} heads cannot share {} key/value heads evenly", metadata.origin(), h.heads, h.kv_heads);
  }
  if (!metadata.Has(prefix + "attention.key_length") && h.model_dim % h.heads != 0) {
    BadInput("{}: embedding length {} is not divisible by {} heads", metadata.origin(), h.model_dim, h.heads);
  }
  h.head_dim = CountOr(metadata, prefix + "attention.key_length", kMostDims, h.model_dim / h.heads);
  h.norm_epsilon = Epsilon(metadata, prefix);
  h.token_dim = h.model_dim;
  h.rope_dims = CountOr(metadata, prefix + "rope.dimension_count", kMostDims, h.head_dim);
  h.rope_base = metadata.RealOr(prefix + "rope.freq_base", 10000);
  h.experts = CountOr(metadata, prefix + "expert_count", kMostDims, 0);
  if (h.experts > 0) {
    h.experts_used = Count(metadata, prefix + "expert_used_count", h.experts);
    h.expert_dim = CountOr(metadata, prefix + "expert_feed_forward_length", kMostDims,
                           std::max<std::int64_t>(h.feed_forward_dim / h.experts_used, 1));
  }
  return h;
}

void ReadGelu(const Metadata& metadata, Hyperparameters& h) {
  const std::string key = h.architecture + ".hidden_activation";
  const std::string name = metadata.StringOr(key, "gelu");
  if (name != "gelu" && name != "gelu_new") {
    BadInput("{}: key '{}' is '{}', must be gelu or gelu_new", metadata.origin(), key, name);
  }
  h.gelu_by_tanh = name == "gelu_new";
}

void CheckRope(const Metadata& metadata, const Hyperparameters& h) {
  if (h.rope == RopeStyle::kNone) return;
  const std::string prefix = h.architecture + ".";
  if (!metadata.Has(prefix + "rope.dimension_count") && h.head_dim % 2 != 0) {
    BadInput("{}: heads of {} numbers cannot be turned in pairs, as RoPE does", metadata.origin(), h.head_dim);
  }
  if (h.rope_dims > h.head_dim || h.rope_dims % 2 != 0) {
    BadInput("{}: key '{}rope.dimension_count' is {}, must be even and at most the head's {}", metadata.origin(),
             prefix, h.rope_dims, h.head_dim);
  }
  if (!(h.rope_base > 0) || !std::isfinite(h.rope_base)) {
    BadInput("{}: key '{}rope.freq_base' is {}, must be positive", metadata.origin(), prefix, h.rope_base);
  }
}

}  // namespace punt
