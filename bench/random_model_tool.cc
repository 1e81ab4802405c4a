// Writes a model of a given shape with random weights: the real shapes, the real file format, nothing learned. For
// measuring speed and memory where no checkpoint is at hand.
//
//   random_model_tool SHAPE TYPE OUT.gguf        SHAPE: a row of random_shapes.h; TYPE: as of `punt convert`
//
// A pool of a million weights is rounded to the type once, and its blocks are dealt out: files of any size are written
// as fast as the disk takes them.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/processors.h"
#include "model/convert.h"
#include "model/weight_types.h"
#include "random_shapes.h"
#include "tool.h"
#include "weights/weight_source.h"

namespace punt {
namespace {

/// Bytes as letters, the way byte-level vocabularies write them, then entries without a meaning.
std::vector<std::string> Tokens(std::int64_t vocab) {
  std::vector<std::string> tokens;
  int beyond = 256;
  for (int byte = 0; byte < 256; ++byte) {
    const bool is_plain = (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    const int code = is_plain ? byte : beyond++;
    std::string text;
    if (code < 0x80) {
      text += static_cast<char>(code);
    } else {
      text += static_cast<char>(0xc0 | (code >> 6));
      text += static_cast<char>(0x80 | (code & 0x3f));
    }
    tokens.push_back(std::move(text));
  }
  tokens.insert(tokens.end(), {"<|startoftext|>", "<|endoftext|>", "<|mdm_mask|>"});
  while (std::ssize(tokens) < vocab) tokens.push_back(fmt::format("[PAD{}]", tokens.size()));
  return tokens;
}

Metadata MakeMetadata(const RandomShape& shape) {
  GgufPtr context(gguf_init_empty());
  gguf_context* c = context.get();
  const std::string prefix = std::string(shape.architecture) + ".";
  const auto integer = [&](const std::string& key, std::int64_t value) {
    gguf_set_val_u32(c, key.c_str(), static_cast<std::uint32_t>(value));
  };
  gguf_set_val_str(c, "general.architecture", shape.architecture);
  gguf_set_val_str(c, "general.name", fmt::format("random weights, {}", shape.name).c_str());
  integer(prefix + "context_length", shape.context);
  integer(prefix + "embedding_length", shape.dim);
  integer(prefix + "block_count", shape.layers);
  integer(prefix + "feed_forward_length", shape.feed_forward);
  integer(prefix + "attention.head_count", shape.heads);
  integer(prefix + "attention.head_count_kv", shape.kv_heads);
  integer(prefix + "attention.key_length", shape.head_dim);
  integer(prefix + "attention.value_length", shape.head_dim);
  integer(prefix + "rope.dimension_count", shape.head_dim);
  integer(prefix + "vocab_size", shape.vocab);
  gguf_set_val_f32(c, (prefix + "attention.layer_norm_rms_epsilon").c_str(), 1e-5f);
  gguf_set_val_f32(c, (prefix + "rope.freq_base").c_str(), 500000.0f);
  if (!shape.is_causal()) {
    gguf_set_val_bool(c, (prefix + "attention.causal").c_str(), false);
    gguf_set_val_bool(c, "diffusion.shift_logits", false);
  }
  if (shape.experts > 0) {
    integer(prefix + "expert_count", shape.experts);
    integer(prefix + "expert_used_count", shape.experts_used);
    integer(prefix + "expert_feed_forward_length", shape.expert_dim);
  }
  if (shape.groups > 0) {
    integer(prefix + "expert_group_count", shape.groups);
    integer(prefix + "expert_group_used_count", shape.groups_used);
    integer(prefix + "expert_shared_count", 1);
    integer(prefix + "leading_dense_block_count", shape.dense_layers);
    gguf_set_val_f32(c, (prefix + "expert_weights_scale").c_str(), 2.5f);
  }
  if (shape.block > 0) integer("diffusion.block_length", shape.block);

  const std::vector<std::string> tokens = Tokens(shape.vocab);
  std::vector<const char*> pointers;
  std::vector<std::int32_t> types;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    pointers.push_back(tokens[i].c_str());
    types.push_back(i < 256 ? 1 : i < 259 ? 3 : 5);  // normal, control, unused
  }
  const char* merge = "a b";
  gguf_set_val_str(c, "tokenizer.ggml.model", "gpt2");
  gguf_set_val_str(c, "tokenizer.ggml.pre", "bailingmoe");
  gguf_set_arr_str(c, "tokenizer.ggml.tokens", pointers.data(), pointers.size());
  gguf_set_arr_data(c, "tokenizer.ggml.token_type", GGUF_TYPE_INT32, types.data(), types.size());
  // libllama wants merges; this one gives a token that there is no entry for, and is never applied.
  gguf_set_arr_str(c, "tokenizer.ggml.merges", &merge, 0);
  integer("tokenizer.ggml.bos_token_id", 256);
  integer("tokenizer.ggml.eos_token_id", 257);
  integer("tokenizer.ggml.padding_token_id", 257);
  integer("tokenizer.ggml.mask_token_id", 258);
  gguf_set_val_bool(c, "tokenizer.ggml.add_bos_token", true);
  return Metadata(std::move(context), "random model");
}

class RandomSource : public WeightSource {
 public:
  RandomSource(const RandomShape& shape, std::string_view type)
      : metadata_(MakeMetadata(shape)), pool_(std::size_t{1} << 20), tensors_(TensorsOf(shape)) {
    // Twelve uniform numbers make a normal one near enough; a long pool is dealt out again and again.
    for (std::size_t i = 0; i < pool_.size(); ++i) {
      double sum = -6;
      for (std::uint64_t k = 0; k < 12; ++k) sum += HashedUniform(i * 12 + k);
      pool_[i] = static_cast<float>(sum);
    }
    const WeightType wanted = ParseWeightType(type);
    if (wanted.is_keep) BadInput("a model with random weights has no type to keep");
    for (TensorInfo& tensor : tensors_) {
      tensor.type = ChooseType(wanted, tensor, shape.layers).type;
      AddPool(tensor.type, tensor.shape[0]);
    }
  }

  const Metadata& metadata() const override { return metadata_; }
  std::span<const TensorInfo> tensors() const override { return tensors_; }
  std::span<const std::byte> Mapped(std::size_t) const override { return {}; }

  void Read(std::size_t index, std::span<std::byte> out) const override {
    const TensorInfo& info = tensors_[index];
    if (info.shape[1] == 1) {
      auto* values = reinterpret_cast<float*>(out.data());
      std::fill_n(values, info.elements(), info.name.ends_with(".bias") ? 0.0f : 1.0f);
      return;
    }
    const std::vector<std::byte>& pool = pools_.at({info.type, info.shape[0]});
    const std::size_t block = ggml_type_size(info.type);
    std::size_t from = index * 7919 * block % pool.size();
    for (std::size_t done = 0; done < out.size();) {
      const std::size_t count = std::min(out.size() - done, pool.size() - from);
      std::copy_n(pool.begin() + static_cast<std::ptrdiff_t>(from), count,
                  out.begin() + static_cast<std::ptrdiff_t>(done));
      done += count;
      from = done / pool.size() * 31 * block % pool.size();
    }
  }

 private:
  static double HashedUniform(std::uint64_t x) {
    x = (x + 0x9e3779b97f4a7c15ULL) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-53;
  }

  /// The pool for rows of such a length, so that products are about as large as what goes in.
  void AddPool(ggml_type type, std::int64_t row) {
    std::vector<std::byte>& pool = pools_[{type, row}];
    if (!pool.empty()) return;
    std::vector<float> scaled(pool_);
    for (float& each : scaled) each /= std::sqrt(static_cast<float>(row));
    const auto count = static_cast<std::int64_t>(scaled.size());
    pool.resize(ggml_row_size(type, count));
    if (type == GGML_TYPE_F32) {
      std::memcpy(pool.data(), scaled.data(), pool.size());
    } else {
      ggml_quantize_chunk(type, scaled.data(), pool.data(), 0, 1, count, nullptr);
    }
  }

  Metadata metadata_;
  std::vector<float> pool_;
  std::map<std::pair<ggml_type, std::int64_t>, std::vector<std::byte>> pools_;
  std::vector<TensorInfo> tensors_;
};

int Main(int argc, char** argv) {
  if (argc != 4) BadInput("usage: random_model_tool SHAPE TYPE OUT.gguf");
  const RandomSource source(FindRandomShape(argv[1]), argv[2]);
  const ConvertResult result = Convert(source, argv[3], {.type = "keep", .threads = UsableProcessors()});
  fmt::print("{}: {} tensors, {:.2f}e9 parameters, {:.2f} GB\n", argv[3], result.tensors,
             static_cast<double>(result.parameters) * 1e-9, static_cast<double>(result.bytes_out) * 1e-9);
  return 0;
}

}  // namespace
}  // namespace punt

int main(int argc, char** argv) {
  return punt::RunTool("random_model_tool", [&] { return punt::Main(argc, argv); });
}
