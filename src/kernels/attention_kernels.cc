#include "kernels/attention_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_kernels.cc"
#include "base/highway_targets.h"
// After what it defines.
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/aligned_allocator.h>
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace punt {
namespace {

#ifndef PUNT_ATTENTION_SIZES
#define PUNT_ATTENTION_SIZES
constexpr std::int64_t kPanel = 16;         // keys, or channels of values, computed together
constexpr std::int64_t kUnitQueries = 192;  // they share the keys and values that were laid out for them
constexpr std::int64_t kBlockKeys = 128;

constexpr std::int64_t RoundUp(std::int64_t count) { return (count + kPanel - 1) / kPanel * kPanel; }

/// What a thread works in: a block of keys and values in panels, scores of all queries, and sums.
struct Room {
  hwy::AlignedFreeUniquePtr<float[]> memory;
  std::int64_t head_dim = 0;
  float* q = nullptr;       // [192][head_dim], scaled
  float* keys = nullptr;    // [128 / 16][head_dim][16]
  float* values = nullptr;  // [head_dim / 16][128][16]
  float* scores = nullptr;  // [192][128]
  float* sums = nullptr;    // [192][head_dim rounded up]
  float* most = nullptr;    // [192]: largest score so far
  float* total = nullptr;   // [192]: sum of the exponentials, the divisor

  void Resize(std::int64_t dim) {
    if (dim == head_dim) return;
    const std::int64_t wide = RoundUp(dim);
    const std::int64_t sizes[] = {kUnitQueries * wide, kBlockKeys * wide, kBlockKeys * wide, kUnitQueries * kBlockKeys,
                                  kUnitQueries * wide, kUnitQueries,      kUnitQueries};
    float** parts[] = {&q, &keys, &values, &scores, &sums, &most, &total};
    std::int64_t all = 0;
    for (std::int64_t size : sizes) all += RoundUp(size);
    memory = hwy::AllocateAligned<float>(static_cast<std::size_t>(all));
    if (memory == nullptr) throw std::bad_alloc();
    float* next = memory.get();
    for (std::size_t i = 0; i < std::size(sizes); ++i) {
      *parts[i] = next;
      next += RoundUp(sizes[i]);
    }
    head_dim = dim;
  }
};
#endif  // PUNT_ATTENTION_SIZES

}  // namespace
}  // namespace punt

HWY_BEFORE_NAMESPACE();
namespace punt {
namespace HWY_NAMESPACE {

#include "kernels/float_tiles.inc"

/// All rows times all panels.
template <bool adds>
HWY_INLINE void Tiles(std::int64_t rows, const float* x, std::int64_t x_stride, const float* panels, std::int64_t count,
                      std::int64_t depth, std::int64_t panel_depth, float* out, std::int64_t out_stride) {
  for (std::int64_t row = 0; row < rows; row += kTileRows) {
    for (std::int64_t p = 0; p < count; ++p) {
      FloatTileOf<kTileRows, adds>(std::min(kTileRows, rows - row), x + row * x_stride, x_stride,
                                   panels + p * panel_depth * kPanel, depth, out + row * out_stride + p * kPanel,
                                   out_stride);
    }
  }
}

class Unit {
 public:
  Unit(const AttentionProblem& problem, std::int64_t unit, Room& room)
      : p_(problem), head_(unit % problem.heads), first_(unit / problem.heads * kUnitQueries), room_(room) {
    count_ = std::min(kUnitQueries, p_.queries - first_);
    room_.Resize(p_.head_dim);
  }

  void Compute() {
    const std::int64_t wide = RoundUp(p_.head_dim);
    const float scale = 1.0f / std::sqrt(static_cast<float>(p_.head_dim));
    for (std::int64_t i = 0; i < count_; ++i) {
      const float* from = p_.q.data + (first_ + i) * p_.q.token_stride + head_ * p_.q.head_stride;
      for (std::int64_t c = 0; c < p_.head_dim; ++c) room_.q[i * wide + c] = from[c] * scale;
    }
    std::fill_n(room_.sums, count_ * wide, 0.0f);
    std::fill_n(room_.most, count_, -std::numeric_limits<float>::infinity());
    std::fill_n(room_.total, count_, 0.0f);
    for (std::int64_t begin = 0; begin < p_.keys; begin += kBlockKeys) {
      const std::int64_t keys = std::min(kBlockKeys, p_.keys - begin);
      LayOut(begin, keys);
      Tiles<false>(count_, room_.q, wide, room_.keys, RoundUp(keys) / kPanel, p_.head_dim, p_.head_dim, room_.scores,
                   kBlockKeys);
      for (std::int64_t i = 0; i < count_; ++i) Weigh(i, begin, keys);
      Tiles<true>(count_, room_.scores, kBlockKeys, room_.values, wide / kPanel, keys, kBlockKeys, room_.sums, wide);
    }
    for (std::int64_t i = 0; i < count_; ++i) {
      float* to = p_.out + ((first_ + i) * p_.heads + head_) * p_.head_dim;
      const float factor = 1 / room_.total[i];
      for (std::int64_t c = 0; c < p_.head_dim; ++c) to[c] = room_.sums[i * wide + c] * factor;
    }
  }

 private:
  void LayOut(std::int64_t begin, std::int64_t keys) {
    const std::int64_t kv_head = head_ / (p_.heads / p_.kv_heads);
    const std::int64_t wide = RoundUp(p_.head_dim);
    for (std::int64_t panel = 0; panel < RoundUp(keys); panel += kPanel) {
      float* to = room_.keys + panel * p_.head_dim;
      for (std::int64_t i = 0; i < kPanel; ++i) {
        if (panel + i < keys) {
          const float* from = p_.k.data + (begin + panel + i) * p_.k.token_stride + kv_head * p_.k.head_stride;
          for (std::int64_t c = 0; c < p_.head_dim; ++c) to[c * kPanel + i] = from[c];
        } else {
          for (std::int64_t c = 0; c < p_.head_dim; ++c) to[c * kPanel + i] = 0;
        }
      }
    }
    for (std::int64_t i = 0; i < keys; ++i) {
      const float* from = p_.v.data + (begin + i) * p_.v.token_stride + kv_head * p_.v.head_stride;
      for (std::int64_t c = 0; c < wide; c += kPanel) {
        float* to = room_.values + (c / kPanel * kBlockKeys + i) * kPanel;
        const std::int64_t there = std::min(kPanel, p_.head_dim - c);
        std::copy_n(from + c, there, to);
        std::fill(to + there, to + kPanel, 0.0f);
      }
    }
  }

  /// Turns scores of a row into exponentials of their distance from the largest so far; earlier sums are rescaled.
  void Weigh(std::int64_t i, std::int64_t begin, std::int64_t keys) {
    const Floats d;
    float* scores = room_.scores + i * kBlockKeys;
    if (p_.mask != nullptr) {
      const ggml_fp16_t* mask = p_.mask + (first_ + i) * p_.mask_stride + begin;
      for (std::int64_t k = 0; k < keys; ++k) scores[k] += ggml_fp16_to_fp32(mask[k]);
    }
    constexpr float kNone = -std::numeric_limits<float>::infinity();
    const std::int64_t all = RoundUp(keys);
    std::fill(scores + keys, scores + all, kNone);
    auto largest = hn::Set(d, room_.most[i]);
    for (std::int64_t k = 0; k < all; k += kLanes) largest = hn::Max(largest, hn::Load(d, scores + k));
    const float most = hn::GetLane(hn::MaxOfLanes(d, largest));
    if (most == kNone) {  // nothing is seen yet
      std::fill_n(scores, all, 0.0f);
      return;
    }
    const auto shift = hn::Set(d, most);
    auto sum = hn::Zero(d);
    for (std::int64_t k = 0; k < all; k += kLanes) {
      // Below -87 an exponential is not a normal float any more.
      const auto distance = hn::Sub(hn::Load(d, scores + k), shift);
      const auto weight =
          hn::IfThenElseZero(hn::Ge(distance, hn::Set(d, -87.0f)), hn::Exp(d, hn::Max(distance, hn::Set(d, -87.0f))));
      hn::Store(weight, d, scores + k);
      sum = hn::Add(sum, weight);
    }
    const float factor = std::exp(room_.most[i] - most);
    room_.total[i] = room_.total[i] * factor + hn::GetLane(hn::SumOfLanes(d, sum));
    room_.most[i] = most;
    if (factor == 1) return;
    const std::int64_t wide = RoundUp(p_.head_dim);
    float* sums = room_.sums + i * wide;
    for (std::int64_t c = 0; c < wide; c += kLanes) {
      hn::Store(hn::Mul(hn::Load(d, sums + c), hn::Set(d, factor)), d, sums + c);
    }
  }

  const AttentionProblem& p_;
  const std::int64_t head_;
  const std::int64_t first_;
  std::int64_t count_ = 0;
  Room& room_;
};

void ComputeUnit(const AttentionProblem& problem, std::int64_t unit, Room& room) {
  Unit(problem, unit, room).Compute();
}

}  // namespace HWY_NAMESPACE
}  // namespace punt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace punt {
namespace {

HWY_EXPORT(ComputeUnit);

AttentionRows RowsOf(const ggml_tensor* x, std::int64_t sequence) {
  const auto bytes = static_cast<const std::byte*>(x->data) + static_cast<std::size_t>(sequence) * x->nb[3];
  return {.data = reinterpret_cast<const float*>(bytes),
          .token_stride = static_cast<std::int64_t>(x->nb[1] / sizeof(float)),
          .head_stride = static_cast<std::int64_t>(x->nb[2] / sizeof(float))};
}

AttentionProblem ProblemOf(const ggml_tensor* node, std::int64_t sequence) {
  const ggml_tensor* q = node->src[0];
  const ggml_tensor* k = node->src[1];
  const ggml_tensor* mask = node->src[3];
  AttentionProblem problem{.head_dim = q->ne[0],
                           .heads = q->ne[2],
                           .kv_heads = k->ne[2],
                           .queries = q->ne[1],
                           .keys = k->ne[1],
                           .q = RowsOf(q, sequence),
                           .k = RowsOf(k, sequence),
                           .v = RowsOf(node->src[2], sequence),
                           .out = static_cast<float*>(node->data) + sequence * q->ne[0] * q->ne[1] * q->ne[2]};
  if (mask != nullptr) {
    problem.mask = static_cast<const ggml_fp16_t*>(mask->data);
    problem.mask_stride = static_cast<std::int64_t>(mask->nb[1] / sizeof(ggml_fp16_t));
  }
  return problem;
}

void RunAttention(ggml_tensor* node, int ith, int nth, void* userdata) {
  // All sequences are alike.
  const std::int64_t units = AttentionUnits(ProblemOf(node, 0));
  const auto all = static_cast<std::size_t>(units * node->src[0]->ne[3]);
  const auto attend = [&](std::size_t begin, std::size_t end, int) {
    for (auto i = static_cast<std::int64_t>(begin); i < static_cast<std::int64_t>(end); ++i) {
      ComputeAttention(ProblemOf(node, i / units), i % units);
    }
  };
  if (nth > 1) {
    const auto share = static_cast<std::size_t>(ith);
    const auto shares = static_cast<std::size_t>(nth);
    return attend(all * share / shares, all * (share + 1) / shares, ith);
  }
  static_cast<ThreadPool*>(userdata)->For(all, attend);
}

}  // namespace

std::int64_t AttentionUnits(const AttentionProblem& problem) {
  return (problem.queries + kUnitQueries - 1) / kUnitQueries * problem.heads;
}

void ComputeAttention(const AttentionProblem& problem, std::int64_t unit) {
  thread_local Room room;  // as large as a cache: making it anew for every layer would cost more than small problems
  HWY_DYNAMIC_DISPATCH(ComputeUnit)(problem, unit, room);
}

ggml_tensor* AttentionNode(ggml_context* context, ggml_tensor* q, ggml_tensor* k, ggml_tensor* v, ggml_tensor* mask,
                           ThreadPool& team) {
  for (const ggml_tensor* x : {q, k, v}) {
    Check(x->type == GGML_TYPE_F32 && x->nb[0] == sizeof(float), "attention over other numbers than f32");
  }
  Check(mask == nullptr || (mask->type == GGML_TYPE_F16 && mask->ne[2] == 1 && mask->ne[3] == 1),
        "a mask of another kind");
  ggml_tensor* sources[] = {q, k, v, mask};
  return ggml_custom_4d(context, GGML_TYPE_F32, q->ne[0], q->ne[2], q->ne[1], q->ne[3], sources,
                        mask == nullptr ? 3 : 4, RunAttention, GGML_N_TASKS_MAX, &team);
}

}  // namespace punt

#endif  // HWY_ONCE
