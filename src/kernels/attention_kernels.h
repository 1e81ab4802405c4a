// Attention of many rows on the CPU: softmax(q k' / sqrt(d) + mask) v, head by head.
//
// ggml's kernel takes dot products, one query and key at a time; on small models it costs half as much as all products
// with weights. Here a few queries meet 16 keys at once in registers, then their probabilities 16 channels of the
// values, as in linear_kernels.h. Keys come in blocks, with the running maximum and sum of each row (no table of
// queries by keys exists). A row's result depends only on its query, the keys, the values and the mask: not on the
// queries that are computed with it, nor on threads.
//
// Tested by attention_kernels_test.cc against a naive twin.
#pragma once

#include <ggml.h>

#include <cstdint>

#include "base/thread_pool.h"

namespace punt {

/// The [head_dim] numbers of a token and head are contiguous; tokens and heads may be any number of floats apart.
struct AttentionRows {
  const float* data = nullptr;
  std::int64_t token_stride = 0;
  std::int64_t head_stride = 0;
};

/// One sequence.
struct AttentionProblem {
  std::int64_t head_dim = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  // divides heads
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  AttentionRows q, k, v;
  const ggml_fp16_t* mask = nullptr;  // [queries][mask_stride], added to the scaled products; null: none
  std::int64_t mask_stride = 0;
  float* out = nullptr;  // [queries][heads][head_dim]
};

/// The number of units of work, which any threads can compute in any order.
std::int64_t AttentionUnits(const AttentionProblem& problem);
void ComputeAttention(const AttentionProblem& problem, std::int64_t unit);

/// A node that computes attention, [head_dim, heads, queries, sequences]. q, k and v are f32 as ggml_flash_attn_ext
/// takes them: [head_dim, tokens, heads, sequences]; the mask is f16 [keys, queries] for all heads and sequences, or
/// null. `team` computes it, and must outlive the graph.
ggml_tensor* AttentionNode(ggml_context* context, ggml_tensor* q, ggml_tensor* k, ggml_tensor* v, ggml_tensor* mask,
                           ThreadPool& team);

}  // namespace punt
