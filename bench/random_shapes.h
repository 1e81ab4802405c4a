// The shapes of published models, and smaller ones, for models with random weights.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "weights/weight_source.h"

namespace punt {

struct RandomShape {
  std::string_view name;
  const char* architecture;
  std::int64_t layers, dim, feed_forward, heads, kv_heads, head_dim, vocab;
  bool is_tied = false;
  bool norms_heads = false;
  // Of mixtures.
  std::int64_t experts = 0, experts_used = 0, expert_dim = 0, dense_layers = 0;
  std::int64_t groups = 0, groups_used = 0, block = 0;
  std::int64_t context = 4096;

  /// As llama.cpp runs it: autoregressively.
  bool is_causal() const { return std::string_view(architecture) == "qwen3"; }
};

/// Qwen3's layers with 1.7e9 parameters, for one architecture or another.
constexpr RandomShape LargeQwen3(std::string_view name, const char* architecture) {
  return {.name = name,
          .architecture = architecture,
          .layers = 28,
          .dim = 2048,
          .feed_forward = 6144,
          .heads = 16,
          .kv_heads = 8,
          .head_dim = 128,
          .vocab = 151936,
          .is_tied = true,
          .norms_heads = true,
          .context = 8192};
}

constexpr RandomShape SmallQwen3(std::string_view name, const char* architecture) {
  RandomShape shape = LargeQwen3(name, architecture);
  shape.layers = 12;
  shape.dim = 768;
  shape.feed_forward = 2304;
  shape.heads = 12;
  shape.kv_heads = 4;
  shape.head_dim = 64;
  shape.vocab = 32064;
  shape.is_tied = false;
  return shape;
}

// 60m, 1b, moe and 100m have a small vocabulary, so that the head does not hide the layers. Others are what their
// config.json says: 8b LLaDA-8B, sdar-1.7b SDAR-1.7B-Chat (Qwen3-1.7B), llada-moe LLaDA-MoE-7B-A1B, llada2-mini
// LLaDA2.0-mini (16B-A1.4B).
inline constexpr std::array kRandomShapes = {
    RandomShape{"60m", "llada", 8, 512, 1536, 8, 8, 64, 32064},
    RandomShape{"1b", "llada", 16, 2048, 5632, 16, 16, 128, 32064},
    RandomShape{"8b", "llada", 32, 4096, 12288, 32, 32, 128, 126464},
    LargeQwen3("sdar-1.7b", "sdar"),
    LargeQwen3("qwen3-1.7b", "qwen3"),
    SmallQwen3("sdar-100m", "sdar"),
    SmallQwen3("qwen3-100m", "qwen3"),
    RandomShape{.name = "moe",
                .architecture = "llada-moe",
                .layers = 8,
                .dim = 1024,
                .feed_forward = 2048,
                .heads = 8,
                .kv_heads = 8,
                .head_dim = 128,
                .vocab = 32064,
                .norms_heads = true,
                .experts = 64,
                .experts_used = 8,
                .expert_dim = 512},
    RandomShape{.name = "llada-moe",
                .architecture = "llada-moe",
                .layers = 16,
                .dim = 2048,
                .feed_forward = 8192,
                .heads = 16,
                .kv_heads = 16,
                .head_dim = 128,
                .vocab = 157184,
                .norms_heads = true,
                .experts = 64,
                .experts_used = 8,
                .expert_dim = 1024},
    RandomShape{.name = "llada2-mini",
                .architecture = "llada2-moe",
                .layers = 20,
                .dim = 2048,
                .feed_forward = 5120,
                .heads = 16,
                .kv_heads = 4,
                .head_dim = 128,
                .vocab = 157184,
                .norms_heads = true,
                .experts = 256,
                .experts_used = 8,
                .expert_dim = 512,
                .dense_layers = 1,
                .groups = 8,
                .groups_used = 4,
                .block = 32},
};

inline const RandomShape& FindRandomShape(std::string_view name) {
  std::string names;
  for (const RandomShape& shape : kRandomShapes) {
    if (shape.name == name) return shape;
    names += (names.empty() ? "" : ", ") + std::string(shape.name);
  }
  BadInput("unknown shape '{}'; valid: {}", name, names);
}

/// Its tensors, all f32 so far.
inline std::vector<TensorInfo> TensorsOf(const RandomShape& shape) {
  std::vector<TensorInfo> tensors;
  const auto add = [&](std::string name, std::initializer_list<std::int64_t> sizes) {
    TensorInfo info{.name = std::move(name)};
    std::copy(sizes.begin(), sizes.end(), info.shape.begin());
    tensors.push_back(std::move(info));
  };
  add("token_embd.weight", {shape.dim, shape.vocab});
  add("output_norm.weight", {shape.dim});
  if (!shape.is_tied) add("output.weight", {shape.dim, shape.vocab});
  for (std::int64_t i = 0; i < shape.layers; ++i) {
    const std::string layer = "blk." + std::to_string(i) + ".";
    const std::int64_t of_queries = shape.heads * shape.head_dim;
    const std::int64_t of_keys = shape.kv_heads * shape.head_dim;
    add(layer + "attn_norm.weight", {shape.dim});
    add(layer + "attn_q.weight", {shape.dim, of_queries});
    add(layer + "attn_k.weight", {shape.dim, of_keys});
    add(layer + "attn_v.weight", {shape.dim, of_keys});
    add(layer + "attn_output.weight", {of_queries, shape.dim});
    if (shape.norms_heads) {
      add(layer + "attn_q_norm.weight", {shape.head_dim});
      add(layer + "attn_k_norm.weight", {shape.head_dim});
    }
    add(layer + "ffn_norm.weight", {shape.dim});
    const auto add_network = [&](const std::string& end, std::int64_t wide, std::int64_t copies) {
      add(layer + "ffn_gate" + end, {shape.dim, wide, copies});
      add(layer + "ffn_up" + end, {shape.dim, wide, copies});
      add(layer + "ffn_down" + end, {wide, shape.dim, copies});
    };
    if (shape.experts == 0 || i < shape.dense_layers) {
      add_network(".weight", shape.feed_forward, 1);
      continue;
    }
    add(layer + "ffn_gate_inp.weight", {shape.dim, shape.experts});
    add_network("_exps.weight", shape.expert_dim, shape.experts);
    if (shape.groups == 0) continue;
    add(layer + "exp_probs_b.bias", {shape.experts});
    add_network("_shexp.weight", shape.expert_dim, 1);
  }
  return tensors;
}

}  // namespace punt
