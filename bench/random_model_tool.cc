// Writes a model of a given size with random weights: the real shapes, the real file format, nothing learned. For
// measuring speed and memory where no checkpoint is at hand.
//
//   random_model_tool SHAPE TYPE OUT.gguf        TYPE: as of `punt convert`
//
// SHAPE: 60m, 1b, 8b, which are LLaDA's; sdar-100m, sdar-1.7b (SDAR-1.7B); and qwen3-100m, qwen3-1.7b, which are of the
// same sizes and what llama.cpp runs, autoregressively.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/processors.h"
#include "model/convert.h"
#include "tool.h"
#include "weights/weight_source.h"

namespace punt {
namespace {

struct Shape {
  std::string_view name;
  std::int64_t layers, dim, feed_forward, heads, vocab;
  std::string_view architecture = "llada";
  std::int64_t kv_heads = heads;
  std::int64_t head_dim = dim / heads;
  std::int64_t context = 4096;

  bool norms_heads() const { return architecture != "llada"; }
  std::int64_t query_dim() const { return heads * head_dim; }
  std::int64_t kv_dim() const { return kv_heads * head_dim; }
};

// 60m, 1b and 100m have a small vocabulary, so that the head does not hide the layers; 8b is LLaDA-8B.
constexpr std::array kShapes = {Shape{"60m", 8, 512, 1536, 8, 32064},
                                Shape{"1b", 16, 2048, 5632, 16, 32064},
                                Shape{"8b", 32, 4096, 12288, 32, 126464},
                                Shape{"sdar-100m", 12, 768, 2304, 12, 32064, "sdar", 4, 64, 8192},
                                Shape{"qwen3-100m", 12, 768, 2304, 12, 32064, "qwen3", 4, 64, 8192},
                                Shape{"sdar-1.7b", 28, 2048, 6144, 16, 151936, "sdar", 8, 128, 8192},
                                Shape{"qwen3-1.7b", 28, 2048, 6144, 16, 151936, "qwen3", 8, 128, 8192}};

const Shape& FindShape(std::string_view name) {
  std::string known;
  for (const Shape& shape : kShapes) {
    if (shape.name == name) return shape;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", shape.name);
  }
  BadInput("unknown shape '{}'; valid: {}", name, known);
}

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

Metadata MakeMetadata(const Shape& shape) {
  GgufPtr context(gguf_init_empty());
  gguf_context* c = context.get();
  const auto integer = [&](const std::string& key, std::int64_t value) {
    gguf_set_val_u32(c, key.c_str(), static_cast<std::uint32_t>(value));
  };
  const std::string prefix = fmt::format("{}.", shape.architecture);
  gguf_set_val_str(c, "general.architecture", std::string(shape.architecture).c_str());
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
  if (shape.architecture == "llada") gguf_set_val_bool(c, "llada.attention.causal", false);
  if (shape.architecture != "qwen3") gguf_set_val_bool(c, "diffusion.shift_logits", false);

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
  explicit RandomSource(const Shape& shape) : metadata_(MakeMetadata(shape)), pool_(std::size_t{1} << 20) {
    // Twelve uniform numbers make a normal one near enough; a long pool is dealt out again and again.
    for (std::size_t i = 0; i < pool_.size(); ++i) {
      double sum = -6;
      for (std::uint64_t k = 0; k < 12; ++k) sum += HashedUniform(i * 12 + k);
      pool_[i] = static_cast<float>(sum);
    }
    Add("token_embd.weight", {shape.dim, shape.vocab});
    Add("output_norm.weight", {shape.dim});
    Add("output.weight", {shape.dim, shape.vocab});
    for (std::int64_t i = 0; i < shape.layers; ++i) {
      const std::string layer = fmt::format("blk.{}.", i);
      Add(layer + "attn_norm.weight", {shape.dim});
      Add(layer + "attn_q.weight", {shape.dim, shape.query_dim()});
      Add(layer + "attn_k.weight", {shape.dim, shape.kv_dim()});
      Add(layer + "attn_v.weight", {shape.dim, shape.kv_dim()});
      Add(layer + "attn_output.weight", {shape.query_dim(), shape.dim});
      if (shape.norms_heads()) {
        Add(layer + "attn_q_norm.weight", {shape.head_dim});
        Add(layer + "attn_k_norm.weight", {shape.head_dim});
      }
      Add(layer + "ffn_norm.weight", {shape.dim});
      Add(layer + "ffn_gate.weight", {shape.dim, shape.feed_forward});
      Add(layer + "ffn_up.weight", {shape.dim, shape.feed_forward});
      Add(layer + "ffn_down.weight", {shape.feed_forward, shape.dim});
    }
  }

  const Metadata& metadata() const override { return metadata_; }
  std::span<const TensorInfo> tensors() const override { return tensors_; }
  std::span<const std::byte> Mapped(std::size_t) const override { return {}; }

  void Read(std::size_t index, std::span<std::byte> out) const override {
    const TensorInfo& info = tensors_[index];
    auto* values = reinterpret_cast<float*>(out.data());
    const auto count = static_cast<std::size_t>(info.elements());
    if (info.shape[1] == 1) {
      std::fill_n(values, count, 1.0f);
      return;
    }
    const float scale = 1.0f / std::sqrt(static_cast<float>(info.shape[0]));
    const std::size_t begin = index * 7919;
    for (std::size_t i = 0; i < count; ++i)
      values[i] = scale * pool_[(begin + i + i / pool_.size() * 31) % pool_.size()];
  }

 private:
  static double HashedUniform(std::uint64_t x) {
    x = (x + 0x9e3779b97f4a7c15ULL) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-53;
  }

  void Add(std::string name, std::initializer_list<std::int64_t> shape) {
    TensorInfo info{.name = std::move(name)};
    std::copy(shape.begin(), shape.end(), info.shape.begin());
    tensors_.push_back(std::move(info));
  }

  Metadata metadata_;
  std::vector<float> pool_;
  std::vector<TensorInfo> tensors_;
};

int Main(int argc, char** argv) {
  if (argc != 4) BadInput("usage: random_model_tool SHAPE TYPE OUT.gguf");
  const RandomSource source(FindShape(argv[1]));
  const auto threads = UsableProcessors();
  const ConvertResult result = Convert(source, argv[3], {.type = argv[2], .threads = threads});
  fmt::print("{}: {} tensors, {:.2f}e9 parameters, {:.2f} GB\n", argv[3], result.tensors,
             static_cast<double>(result.parameters) * 1e-9, static_cast<double>(result.bytes_out) * 1e-9);
  return 0;
}

}  // namespace
}  // namespace punt

int main(int argc, char** argv) {
  return punt::RunTool("random_model_tool", [&] { return punt::Main(argc, argv); });
}
