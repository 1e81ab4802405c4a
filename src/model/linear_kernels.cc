#include "model/linear_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/linear_kernels.cc"
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)  // no vectors in arrays
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "base/check.h"

HWY_BEFORE_NAMESPACE();
namespace punt {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, kPanel>;
constexpr std::int64_t kLanes = hn::MaxLanes(Floats());
constexpr std::int64_t kVectors = kPanel / kLanes;  // of a panel
constexpr std::int64_t kTileRows =
    std::max<std::int64_t>(12 / kVectors, 1);  // 12 accumulators: of 16 registers or more

// What is computed together: a stretch of so many rows, and sums of so many panels, stay in the second-level cache.
constexpr std::int64_t kMostRows = 256;
constexpr std::int64_t kMostPanels = kGroup;

// Whether there is an instruction that multiplies unsigned by signed bytes and adds pairs.
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SSE2
#define PUNT_MULTIPLIES_BYTES 1
#else
#define PUNT_MULTIPLIES_BYTES 0
#endif

/// What weights are widened to for rows of such numbers.
template <typename Number>
struct WideFor {
  using Type = Number;
};
template <>
struct WideFor<std::int8_t> {
#if PUNT_MULTIPLIES_BYTES
  using Type = std::uint8_t;  // [depth / 4][16][4], 8 added
#else
  using Type = std::int16_t;  // [depth / 2][16][2], 8 added
#endif
};
template <typename Number>
using Wide = typename WideFor<Number>::Type;

constexpr std::int64_t kStretchBlocks = kStretch / kBlock;

/// Scales of a stretch of a row.
template <typename Number>
constexpr std::int64_t kRowScales = std::is_same_v<Number, std::int8_t> ? kStretchBlocks : 1;

/// What one call computes: R rows times a panel, over one stretch.
template <typename Number>
struct Tile {
  const Wide<Number>* weights = nullptr;  // of the panel's stretch
  const Number* x = nullptr;              // [R][256]
  std::int64_t depth = 0;                 // of this stretch
  float* sums = nullptr;                  // [R][16], added to
  // Of integers only.
  const float* weight_scales = nullptr;  // [blocks][16]
  const float* row_scales = nullptr;     // [R][kRowScales]
  const std::int32_t* excess = nullptr;  // [R][kRowScales], of bytes only: what 8 added to all weights adds
  float* room = nullptr;                 // [R][16]
};

/// g++ would move the loads of all rows before the first product, and spill sums to make room: half as fast.
template <class V>
HWY_INLINE V InOrder(V v) {
#if HWY_COMPILER_GCC_ACTUAL && HWY_ARCH_X86
  auto raw = v.raw;
  asm volatile("" : "+v"(raw));
  v.raw = raw;
#endif
  return v;
}

template <std::int64_t R>
HWY_INLINE void ComputeTile(const Tile<float>& tile) {
  const Floats d;
  hn::Vec<Floats> sums[R][kVectors];
  for (std::int64_t r = 0; r < R; ++r) {
    for (std::int64_t v = 0; v < kVectors; ++v) sums[r][v] = hn::Load(d, tile.sums + r * kPanel + v * kLanes);
  }
  const float* weights = tile.weights;
  for (std::int64_t k = 0; k < tile.depth; ++k, weights += kPanel) {
    hn::Vec<Floats> w[kVectors];
    for (std::int64_t v = 0; v < kVectors; ++v) w[v] = hn::Load(d, weights + v * kLanes);
    for (std::int64_t r = 0; r < R; ++r) {
      const auto x = hn::Set(d, tile.x[r * kStretch + k]);
      for (std::int64_t v = 0; v < kVectors; ++v) sums[r][v] = InOrder(hn::MulAdd(x, w[v], sums[r][v]));
    }
  }
  for (std::int64_t r = 0; r < R; ++r) {
    for (std::int64_t v = 0; v < kVectors; ++v) hn::Store(sums[r][v], d, tile.sums + r * kPanel + v * kLanes);
  }
}

#if HWY_TARGET == HWY_SCALAR  // has no pairs of lanes

template <std::int64_t R>
HWY_INLINE void ComputeTile(const Tile<std::int16_t>& tile) {
  for (std::int64_t r = 0; r < R; ++r) {
    for (std::int64_t channel = 0; channel < kPanel; ++channel) {
      float total = 0;
      for (std::int64_t begin = 0; begin < tile.depth; begin += kBlock) {
        std::int32_t sum = 0;
        for (std::int64_t k = begin; k < begin + kBlock; ++k) {
          sum += tile.x[r * kStretch + k] * tile.weights[(k / 2) * 2 * kPanel + channel * 2 + k % 2];
        }
        total += static_cast<float>(sum) * tile.weight_scales[begin / kBlock * kPanel + channel];
      }
      tile.sums[r * kPanel + channel] += total * tile.row_scales[r];
    }
  }
}

template <std::int64_t R>
HWY_INLINE void ComputeTile(const Tile<std::int8_t>& tile) {
  for (std::int64_t r = 0; r < R; ++r) {
    for (std::int64_t channel = 0; channel < kPanel; ++channel) {
      for (std::int64_t block = 0; block < tile.depth / kBlock; ++block) {
        std::int32_t sum = 0;
        for (std::int64_t k = block * kBlock; k < (block + 1) * kBlock; ++k) {
          sum += tile.x[r * kStretch + k] * tile.weights[(k / 2) * 2 * kPanel + channel * 2 + k % 2];
        }
        const std::int64_t at = r * kStretchBlocks + block;
        tile.sums[r * kPanel + channel] += static_cast<float>(sum - tile.excess[at]) * tile.row_scales[at] *
                                           tile.weight_scales[block * kPanel + channel];
      }
    }
  }
}

#else

/// The same sums of a block, however they were computed, become part of the tile's.
template <std::int64_t R, class V32>
HWY_INLINE void AddBlock(const Tile<std::int8_t>& tile, std::int64_t block, const V32 (&sums)[R][kVectors]) {
  const Floats d;
  const hn::Repartition<std::int32_t, Floats> d32;
  for (std::int64_t v = 0; v < kVectors; ++v) {
    const auto scale = hn::Load(d, tile.weight_scales + block * kPanel + v * kLanes);
    for (std::int64_t r = 0; r < R; ++r) {
      const std::int64_t at = r * kStretchBlocks + block;
      float* total = tile.sums + r * kPanel + v * kLanes;
      const auto sum = hn::ConvertTo(d, hn::Sub(sums[r][v], hn::Set(d32, tile.excess[at])));
      const auto scaled = hn::Mul(sum, hn::Set(d, tile.row_scales[at]));
      hn::Store(hn::MulAdd(scaled, scale, hn::Load(d, total)), d, total);
    }
  }
}

#if PUNT_MULTIPLIES_BYTES

HWY_INLINE __m128i MultiplyBytes(__m128i u, __m128i s) { return _mm_maddubs_epi16(u, s); }
#if HWY_TARGET <= HWY_AVX2
HWY_INLINE __m256i MultiplyBytes(__m256i u, __m256i s) { return _mm256_maddubs_epi16(u, s); }
#endif
#if HWY_TARGET <= HWY_AVX3
HWY_INLINE __m512i MultiplyBytes(__m512i u, __m512i s) { return _mm512_maddubs_epi16(u, s); }
#endif

template <std::int64_t R>
HWY_INLINE void ComputeTile(const Tile<std::int8_t>& tile) {
  const hn::Repartition<std::int32_t, Floats> d32;
  const hn::Repartition<std::int16_t, Floats> d16;
  const hn::Repartition<std::uint8_t, Floats> d8;
  constexpr std::int64_t kBytes = kLanes * 4;
  const std::uint8_t* weights = tile.weights;
  for (std::int64_t block = 0; block < tile.depth / kBlock; ++block) {
    // 16 products of at most 15 x 127 each.
    hn::Vec<decltype(d16)> pairs[R][kVectors];
#pragma GCC unroll 8
    for (std::int64_t k = 0; k < kBlock; k += 4, weights += 4 * kPanel) {
      hn::Vec<decltype(d8)> w[kVectors];
      for (std::int64_t v = 0; v < kVectors; ++v) w[v] = hn::Load(d8, weights + v * kBytes);
      for (std::int64_t r = 0; r < R; ++r) {
        std::int32_t four = 0;
        std::memcpy(&four, tile.x + r * kStretch + block * kBlock + k, sizeof(four));
        const auto x = hn::Set(d32, four);
        for (std::int64_t v = 0; v < kVectors; ++v) {
          const hn::Vec<decltype(d16)> products{MultiplyBytes(w[v].raw, x.raw)};
          pairs[r][v] = InOrder(k == 0 ? products : hn::Add(pairs[r][v], products));
        }
      }
    }
    hn::Vec<decltype(d32)> sums[R][kVectors];
    const auto ones = hn::Set(d16, std::int16_t{1});
    for (std::int64_t r = 0; r < R; ++r) {
      for (std::int64_t v = 0; v < kVectors; ++v) {
        auto unused = hn::Zero(d32);
        sums[r][v] = hn::ReorderWidenMulAccumulate(d32, pairs[r][v], ones, hn::Zero(d32), unused);
      }
    }
    AddBlock<R>(tile, block, sums);
  }
}

#else

template <std::int64_t R>
HWY_INLINE void ComputeTile(const Tile<std::int8_t>& tile) {
  const hn::Repartition<std::int32_t, Floats> d32;
  const hn::Repartition<std::int16_t, Floats> d16;
  const std::int16_t* weights = tile.weights;
  for (std::int64_t block = 0; block < tile.depth / kBlock; ++block) {
    hn::Vec<decltype(d32)> sums[R][kVectors];
    hn::Vec<decltype(d32)> others[R][kVectors];
    for (std::int64_t r = 0; r < R; ++r) {
      for (std::int64_t v = 0; v < kVectors; ++v) sums[r][v] = others[r][v] = hn::Zero(d32);
    }
    for (std::int64_t k = block * kBlock; k < (block + 1) * kBlock; k += 2, weights += 2 * kPanel) {
      for (std::int64_t r = 0; r < R; ++r) {
        const std::int16_t two[] = {tile.x[r * kStretch + k], tile.x[r * kStretch + k + 1]};
        std::int32_t pair = 0;
        std::memcpy(&pair, two, sizeof(pair));
        const auto x = hn::BitCast(d16, hn::Set(d32, pair));
        for (std::int64_t v = 0; v < kVectors; ++v) {
          const auto w = hn::Load(d16, weights + v * 2 * kLanes);
          sums[r][v] = hn::ReorderWidenMulAccumulate(d32, x, w, sums[r][v], others[r][v]);
        }
      }
    }
    for (std::int64_t r = 0; r < R; ++r) {
      for (std::int64_t v = 0; v < kVectors; ++v) {
        sums[r][v] = hn::RearrangeToOddPlusEven(sums[r][v], others[r][v]);
      }
    }
    AddBlock<R>(tile, block, sums);
  }
}

#endif

template <std::int64_t R>
HWY_INLINE void ComputeTile(const Tile<std::int16_t>& tile) {
  const Floats d;
  const hn::Repartition<std::int32_t, Floats> d32;
  const hn::Repartition<std::int16_t, Floats> d16;
  const std::int16_t* weights = tile.weights;
  for (std::int64_t begin = 0; begin < tile.depth; begin += kBlock) {
    // Some instruction sets spread the sums of pairs over two vectors.
    hn::Vec<decltype(d32)> sums[R][kVectors];
    hn::Vec<decltype(d32)> others[R][kVectors];
    for (std::int64_t r = 0; r < R; ++r) {
      for (std::int64_t v = 0; v < kVectors; ++v) sums[r][v] = others[r][v] = hn::Zero(d32);
    }
#pragma GCC unroll 16  // a loop would have g++ copy the sums in every turn
    for (std::int64_t k = begin; k < begin + kBlock; k += 2, weights += 2 * kPanel) {
      hn::Vec<decltype(d16)> w[kVectors];
      for (std::int64_t v = 0; v < kVectors; ++v) w[v] = hn::Load(d16, weights + v * 2 * kLanes);
      for (std::int64_t r = 0; r < R; ++r) {
        std::int32_t pair = 0;
        std::memcpy(&pair, tile.x + r * kStretch + k, sizeof(pair));
        const auto x = hn::BitCast(d16, hn::Set(d32, pair));
        for (std::int64_t v = 0; v < kVectors; ++v) {
          sums[r][v] = InOrder(hn::ReorderWidenMulAccumulate(d32, x, w[v], sums[r][v], others[r][v]));
        }
      }
    }
    const float* scales = tile.weight_scales + begin / kBlock * kPanel;
    for (std::int64_t v = 0; v < kVectors; ++v) {
      const auto scale = hn::Load(d, scales + v * kLanes);
      for (std::int64_t r = 0; r < R; ++r) {
        float* total = tile.room + r * kPanel + v * kLanes;
        const auto sum = hn::ConvertTo(d, hn::RearrangeToOddPlusEven(sums[r][v], others[r][v]));
        hn::Store(hn::MulAdd(sum, scale, begin == 0 ? hn::Zero(d) : hn::Load(d, total)), d, total);
      }
    }
  }
  for (std::int64_t r = 0; r < R; ++r) {
    const auto scale = hn::Set(d, tile.row_scales[r]);
    for (std::int64_t i = r * kPanel; i < (r + 1) * kPanel; i += kLanes) {
      hn::Store(hn::MulAdd(hn::Load(d, tile.room + i), scale, hn::Load(d, tile.sums + i)), d, tile.sums + i);
    }
  }
}

#endif

/// ComputeTile for a number of rows known at run time, at most R.
template <std::int64_t R, typename Number>
HWY_INLINE void ComputeTileOf(std::int64_t rows, const Tile<Number>& tile) {
  if (rows == R) return ComputeTile<R>(tile);
  if constexpr (R > 1) ComputeTileOf<R - 1>(rows, tile);
}

// ---- weights of a stretch as tiles read them: from where they are, or from `room`; the last argument says for which
// rows

template <typename From, typename To>
HWY_INLINE void Widen(const std::uint8_t* weights, std::int64_t count, To* room) {
  const hn::CappedTag<To, kPanel> d;
  const hn::Rebind<From, decltype(d)> from;
  const auto* numbers = reinterpret_cast<const From*>(weights);
  for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(d))) {
    hn::Store(hn::PromoteTo(d, hn::LoadU(from, numbers + i)), d, room + i);
  }
}

/// Nibbles to the numbers that tiles of bytes read, still with 8 added.
template <typename To>
HWY_INLINE void WidenNibbles(const std::uint8_t* weights, std::int64_t depth, To* room) {
  constexpr std::int64_t kFour = 4 * kPanel;  // bytes of 4 along the depth
  for (std::int64_t k = 0; k < depth; k += 8, weights += kFour, room += 2 * kFour) {
    if constexpr (sizeof(To) == 1) {
      for (std::int64_t i = 0; i < kFour; ++i) {
        room[i] = weights[i] & 15;
        room[kFour + i] = weights[i] >> 4;
      }
    } else {
      for (std::int64_t i = 0; i < kFour; ++i) {
        const std::int64_t pair = i % 4 / 2;
        const std::int64_t at = pair * 2 * kPanel + i / 4 * 2 + i % 2;
        room[at] = weights[i] & 15;
        room[kFour + at] = weights[i] >> 4;
      }
    }
  }
}

HWY_INLINE const float* WidenStretch(const PackedMatrix& matrix, std::int64_t panel, std::int64_t begin,
                                     std::int64_t depth, float* room, float) {
  const std::uint8_t* weights = matrix.Weights(panel, begin);
  if (matrix.form() == PackedForm::kF32) return reinterpret_cast<const float*>(weights);
  if (matrix.form() == PackedForm::kF16) {
    Widen<hwy::float16_t>(weights, depth * kPanel, room);
  } else {
    Widen<hwy::bfloat16_t>(weights, depth * kPanel, room);
  }
  return room;
}

HWY_INLINE const std::int16_t* WidenStretch(const PackedMatrix& matrix, std::int64_t panel, std::int64_t begin,
                                            std::int64_t depth, std::int16_t* room, std::int16_t) {
  const std::uint8_t* weights = matrix.Weights(panel, begin);
  if (matrix.form() == PackedForm::kInt16) return reinterpret_cast<const std::int16_t*>(weights);
  Widen<std::int8_t>(weights, depth * kPanel, room);
  return room;
}

HWY_INLINE const Wide<std::int8_t>* WidenStretch(const PackedMatrix& matrix, std::int64_t panel, std::int64_t begin,
                                                 std::int64_t depth, Wide<std::int8_t>* room, std::int8_t) {
  WidenNibbles(matrix.Weights(panel, begin), depth, room);
  return room;
}

/// Fetches the weights of a stretch that come next.
HWY_INLINE void PrefetchStretch(const PackedMatrix& matrix, std::int64_t panel, std::int64_t begin) {
  const std::size_t bytes = matrix.DepthBytes(std::min(kStretch, matrix.padded_depth() - begin));
  const std::uint8_t* weights = matrix.Weights(panel, begin);
  for (std::size_t i = 0; i < bytes; i += 64) hwy::Prefetch(weights + i);
}

/// A few rows times a few panels.
template <typename Number>
class Product {
 public:
  Product(const PackedMatrix& weights, const RowsShape& shape, const std::byte* laid_out)
      : weights_(weights),
        shape_(shape),
        rows_(reinterpret_cast<const Number*>(laid_out)),
        scales_(reinterpret_cast<const float*>(rows_ + shape.numbers())),
        excess_(reinterpret_cast<const std::int32_t*>(scales_ + shape.stretches() * shape.rows * kRowScales<Number>)) {}

  void Compute(std::int64_t first_row, std::int64_t last_row, const PanelShare& share) {
    const std::int64_t count = (last_row - first_row) * kPanel;
    std::fill_n(sums_, count * (share.last - share.first), 0.0f);
    for (std::int64_t begin = 0; begin < weights_.padded_depth(); begin += kStretch) {
      for (std::int64_t panel = share.first; panel < share.last; ++panel) {
        if (panel + 1 < share.last) {
          PrefetchStretch(weights_, panel + 1, begin);
        } else if (begin + kStretch < weights_.padded_depth()) {
          PrefetchStretch(weights_, share.first, begin + kStretch);
        }
        AddStretch(first_row, last_row, panel, begin, sums_ + (panel - share.first) * count);
      }
    }
    for (std::int64_t row = first_row; row < last_row; ++row) {
      for (std::int64_t panel = share.first; panel < share.last; ++panel) {
        const float* from = sums_ + (panel - share.first) * count + (row - first_row) * kPanel;
        float* to = share.y + row * weights_.channels() + panel * kPanel;
        const std::int64_t channels = std::min(kPanel, weights_.channels() - panel * kPanel);
        if (channels < kPanel) {
          std::copy_n(from, channels, to);
        } else {  // a copy of unknown length would be a call
          const Floats d;
          for (std::int64_t i = 0; i < kPanel; i += kLanes) hn::StoreU(hn::Load(d, from + i), d, to + i);
        }
      }
    }
  }

 private:
  HWY_INLINE void AddStretch(std::int64_t first_row, std::int64_t last_row, std::int64_t panel, std::int64_t begin,
                             float* sums) {
    // Rows have zeros up to the end of the stretch, so a last block may reach beyond the depth.
    const std::int64_t depth = std::min(kStretch, weights_.padded_depth() - begin);
    Tile<Number> tile{.weights = WidenStretch(weights_, panel, begin, depth, wide_, Number()),
                      .depth = depth,
                      .weight_scales = wide_scales_,
                      .room = room_};
    if (weights_.has_blocks()) {
      Widen<hwy::float16_t>(reinterpret_cast<const std::uint8_t*>(weights_.Scales(panel, begin)),
                            depth / kBlock * kPanel, wide_scales_);
      if (weights_.form() == PackedForm::kInt16) {
        for (std::int64_t i = 0; i < depth / kBlock * kPanel; ++i) wide_scales_[i] /= kInt16ScaleFactor;
      }
    }
    for (std::int64_t row = first_row; row < last_row; row += kTileRows) {
      const std::int64_t at = begin / kStretch * shape_.rows + row;
      tile.x = rows_ + at * kStretch;
      tile.row_scales = scales_ + at * kRowScales<Number>;
      tile.excess = excess_ + at * kRowScales<Number>;  // where there is none, nobody reads it
      tile.sums = sums + (row - first_row) * kPanel;
      ComputeTileOf<kTileRows>(std::min(kTileRows, last_row - row), tile);
    }
  }

  const PackedMatrix& weights_;
  const RowsShape& shape_;
  const Number* rows_;
  const float* scales_;
  const std::int32_t* excess_;
  HWY_ALIGN Wide<Number> wide_[kPanel * kStretch];
  HWY_ALIGN float wide_scales_[kStretchBlocks * kPanel];
  HWY_ALIGN float room_[kTileRows * kPanel];
  HWY_ALIGN float sums_[kMostPanels * kMostRows * kPanel];
};

template <typename Number>
void MultiplyShare(const PackedMatrix& weights, const RowsShape& shape, const std::byte* laid_out,
                   const PanelShare& share) {
  Product<Number> product(weights, shape, laid_out);
  // Portions of rows of about equal size, of whole tiles: each widens all weights anew.
  const std::int64_t portions = (shape.rows + kMostRows - 1) / kMostRows;
  const std::int64_t tiles = (shape.rows + kTileRows - 1) / kTileRows;
  const std::int64_t portion = std::min((tiles + portions - 1) / portions * kTileRows, kMostRows);
  for (std::int64_t first = 0; first < shape.rows; first += portion) {
    for (std::int64_t panel = share.first; panel < share.last; panel += kMostPanels) {
      product.Compute(first, std::min(shape.rows, first + portion),
                      {.first = panel, .last = std::min(share.last, panel + kMostPanels), .y = share.y});
    }
  }
}

void MultiplyFloats(const PackedMatrix& weights, const RowsShape& shape, const std::byte* laid_out,
                    const PanelShare& share) {
  MultiplyShare<float>(weights, shape, laid_out, share);
}

void MultiplyInt16(const PackedMatrix& weights, const RowsShape& shape, const std::byte* laid_out,
                   const PanelShare& share) {
  MultiplyShare<std::int16_t>(weights, shape, laid_out, share);
}

void MultiplyInt8(const PackedMatrix& weights, const RowsShape& shape, const std::byte* laid_out,
                  const PanelShare& share) {
  MultiplyShare<std::int8_t>(weights, shape, laid_out, share);
}

/// Rounds so many numbers to as many steps to either side of 0; returns their common factor.
template <typename To>
HWY_INLINE float Round(const float* x, std::int64_t count, float steps, To* rounded) {
  const Floats d;
  const hn::Rebind<To, Floats> to;
  auto largest = hn::Zero(d);
  auto damage = hn::Zero(d);  // 0 times NaN or infinity is NaN
  for (std::int64_t i = 0; i < count; i += kLanes) {
    const auto v = hn::LoadU(d, x + i);
    largest = hn::Max(largest, hn::Abs(v));
    damage = hn::MulAdd(v, hn::Zero(d), damage);
  }
  const float most = hn::GetLane(hn::MaxOfLanes(d, largest));
  const float bad = hn::GetLane(hn::SumOfLanes(d, damage));
  if (bad != 0 || most < 1e-30f) {
    std::fill_n(rounded, count, To{0});
    return bad;
  }
  const auto factor = hn::Set(d, steps / most);
  for (std::int64_t i = 0; i < count; i += kLanes) {
    const auto v = hn::NearestInt(hn::Mul(hn::LoadU(d, x + i), factor));
    hn::StoreU(hn::DemoteTo(to, v), to, rounded + i);
  }
  return most / steps;
}

float RoundStretch(const float* x, std::int16_t* rounded) { return Round(x, kStretch, 32767.0f, rounded); }
float RoundBlock(const float* x, std::int8_t* rounded) { return Round(x, kBlock, 127.0f, rounded); }

#undef PUNT_MULTIPLIES_BYTES

}  // namespace HWY_NAMESPACE
}  // namespace punt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace punt {
namespace {

HWY_EXPORT(MultiplyFloats);
HWY_EXPORT(MultiplyInt16);
HWY_EXPORT(MultiplyInt8);
HWY_EXPORT(RoundStretch);
HWY_EXPORT(RoundBlock);

}  // namespace

void LayOutRows(RowsForm form, const RowsShape& shape, const RowsShare& share, std::byte* laid_out) {
  auto* scales16 = reinterpret_cast<float*>(laid_out + shape.numbers() * 2);
  auto* scales8 = reinterpret_cast<float*>(laid_out + shape.numbers());
  auto* excess = reinterpret_cast<std::int32_t*>(scales8 + shape.numbers() / kBlock);
  for (std::int64_t s = 0; s < shape.stretches(); ++s) {
    const std::int64_t depth = std::min(kStretch, shape.depth - s * kStretch);
    for (std::int64_t row = share.first; row < share.last; ++row) {
      const std::int64_t at = s * shape.rows + row;
      const float* x = share.x + row * share.stride + s * kStretch;
      float padded[kStretch] = {};
      if (depth < kStretch) x = std::copy_n(x, depth, padded) - depth;
      switch (form) {
        case RowsForm::kFloat:
          std::copy_n(x, kStretch, reinterpret_cast<float*>(laid_out) + at * kStretch);
          break;
        case RowsForm::kInt16:
          scales16[at] =
              HWY_DYNAMIC_DISPATCH(RoundStretch)(x, reinterpret_cast<std::int16_t*>(laid_out) + at * kStretch);
          break;
        case RowsForm::kInt8:
          for (std::int64_t block = at * kStretch / kBlock; block < (at + 1) * kStretch / kBlock; ++block) {
            auto* out = reinterpret_cast<std::int8_t*>(laid_out) + block * kBlock;
            scales8[block] = HWY_DYNAMIC_DISPATCH(RoundBlock)(x, out);
            excess[block] = 8 * std::accumulate(out, out + kBlock, 0);
            x += kBlock;
          }
          break;
      }
    }
  }
}

void Multiply(const PackedMatrix& weights, const RowsShape& shape, const std::byte* laid_out, const PanelShare& share) {
  Check(shape.depth == weights.depth(), "rows of another depth than the weights");
  switch (weights.rows_form()) {
    case RowsForm::kFloat:
      return HWY_DYNAMIC_DISPATCH(MultiplyFloats)(weights, shape, laid_out, share);
    case RowsForm::kInt16:
      return HWY_DYNAMIC_DISPATCH(MultiplyInt16)(weights, shape, laid_out, share);
    case RowsForm::kInt8:
      return HWY_DYNAMIC_DISPATCH(MultiplyInt8)(weights, shape, laid_out, share);
  }
}

}  // namespace punt

#endif  // HWY_ONCE
