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

/// What one call computes: R rows times a panel, over one stretch.
template <typename Number>
struct Tile {
  const Number* weights = nullptr;  // of the panel's stretch
  const Number* x = nullptr;        // [R][256]
  std::int64_t depth = 0;           // of this stretch
  float* sums = nullptr;            // [R][16], added to
  // Of integers only.
  const float* weight_scales = nullptr;  // [blocks][16]
  const float* row_scales = nullptr;     // [R]
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

#else

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

// ---- weights of a stretch as tiles read them: from where they are, or from `room`

template <typename From, typename To>
HWY_INLINE void Widen(const std::uint8_t* weights, std::int64_t count, To* room) {
  const hn::CappedTag<To, kPanel> d;
  const hn::Rebind<From, decltype(d)> from;
  const auto* numbers = reinterpret_cast<const From*>(weights);
  for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(d))) {
    hn::Store(hn::PromoteTo(d, hn::LoadU(from, numbers + i)), d, room + i);
  }
}

/// Bytes of two nibbles to pairs of 16-bit numbers, 8 less.
HWY_INLINE void WidenNibbles(const std::uint8_t* weights, std::int64_t count, std::int16_t* room) {
  const hn::CappedTag<std::int32_t, kPanel> d;
  const hn::Rebind<std::uint8_t, decltype(d)> from;
  const auto low = hn::Set(d, 0xf);
  const auto high = hn::Set(d, 0xf0000);
  for (std::int64_t i = 0; i < count / 2; i += static_cast<std::int64_t>(hn::Lanes(d))) {
    const auto v = hn::PromoteTo(d, hn::LoadU(from, weights + i));
    // Less 8 in both halves: the detour keeps the low one from borrowing from the high one.
    const auto pair = hn::Or(hn::And(v, low), hn::And(hn::ShiftLeft<12>(v), high));
    const auto centred =
        hn::Xor(hn::Add(pair, hn::Set(d, 0x7ff87ff8)), hn::Set(d, static_cast<std::int32_t>(0x80008000)));
    hn::Store(centred, d, reinterpret_cast<std::int32_t*>(room) + i);
  }
}

HWY_INLINE const float* WidenStretch(const PackedMatrix& matrix, std::int64_t panel, std::int64_t begin,
                                     std::int64_t depth, float* room) {
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
                                            std::int64_t depth, std::int16_t* room) {
  const std::uint8_t* weights = matrix.Weights(panel, begin);
  if (matrix.form() == PackedForm::kInt16) return reinterpret_cast<const std::int16_t*>(weights);
  if (matrix.form() == PackedForm::kInt8) {
    Widen<std::int8_t>(weights, depth * kPanel, room);
  } else {
    WidenNibbles(weights, depth * kPanel, room);
  }
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
        scales_(reinterpret_cast<const float*>(rows_ + shape.stretches() * shape.rows * kStretch)) {}

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
    Tile<Number> tile{.weights = WidenStretch(weights_, panel, begin, depth, wide_),
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
      tile.row_scales = scales_ + at;
      tile.sums = sums + (row - first_row) * kPanel;
      ComputeTileOf<kTileRows>(std::min(kTileRows, last_row - row), tile);
    }
  }

  const PackedMatrix& weights_;
  const RowsShape& shape_;
  const Number* rows_;
  const float* scales_;
  HWY_ALIGN Number wide_[kPanel * kStretch];
  HWY_ALIGN float wide_scales_[kStretch / kBlock * kPanel];
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

void MultiplyInts(const PackedMatrix& weights, const RowsShape& shape, const std::byte* laid_out,
                  const PanelShare& share) {
  MultiplyShare<std::int16_t>(weights, shape, laid_out, share);
}

/// A stretch of 256 numbers to 16 bits; returns their common factor.
float RoundStretch(const float* x, std::int16_t* rounded) {
  const Floats d;
  const hn::Rebind<std::int16_t, Floats> d16;
  auto largest = hn::Zero(d);
  auto damage = hn::Zero(d);  // 0 times NaN or infinity is NaN
  for (std::int64_t i = 0; i < kStretch; i += kLanes) {
    const auto v = hn::LoadU(d, x + i);
    largest = hn::Max(largest, hn::Abs(v));
    damage = hn::MulAdd(v, hn::Zero(d), damage);
  }
  const float most = hn::GetLane(hn::MaxOfLanes(d, largest));
  const float bad = hn::GetLane(hn::SumOfLanes(d, damage));
  if (bad != 0 || most < 1e-30f) {
    std::fill_n(rounded, kStretch, std::int16_t{0});
    return bad;
  }
  const auto factor = hn::Set(d, 32767.0f / most);
  for (std::int64_t i = 0; i < kStretch; i += kLanes) {
    const auto v = hn::NearestInt(hn::Mul(hn::LoadU(d, x + i), factor));
    hn::StoreU(hn::DemoteTo(d16, v), d16, rounded + i);
  }
  return most / 32767.0f;
}

}  // namespace HWY_NAMESPACE
}  // namespace punt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace punt {
namespace {

HWY_EXPORT(MultiplyFloats);
HWY_EXPORT(MultiplyInts);
HWY_EXPORT(RoundStretch);

}  // namespace

void LayOutFloatRows(const RowsShape& shape, const RowsShare& share, std::byte* laid_out) {
  for (std::int64_t s = 0; s < shape.stretches(); ++s) {
    const auto depth = static_cast<std::size_t>(std::min(kStretch, shape.depth - s * kStretch));
    for (std::int64_t row = share.first; row < share.last; ++row) {
      float* out = reinterpret_cast<float*>(laid_out) + (s * shape.rows + row) * kStretch;
      std::copy_n(share.x + row * share.stride + s * kStretch, depth, out);
      std::fill(out + depth, out + kStretch, 0.0f);
    }
  }
}

void LayOutInt16Rows(const RowsShape& shape, const RowsShare& share, std::byte* laid_out) {
  auto* rounded = reinterpret_cast<std::int16_t*>(laid_out);
  auto* scales = reinterpret_cast<float*>(rounded + shape.stretches() * shape.rows * kStretch);
  for (std::int64_t s = 0; s < shape.stretches(); ++s) {
    const std::int64_t depth = std::min(kStretch, shape.depth - s * kStretch);
    for (std::int64_t row = share.first; row < share.last; ++row) {
      const std::int64_t at = s * shape.rows + row;
      const float* x = share.x + row * share.stride + s * kStretch;
      float padded[kStretch] = {};
      if (depth < kStretch) x = std::copy_n(x, depth, padded) - depth;
      scales[at] = HWY_DYNAMIC_DISPATCH(RoundStretch)(x, rounded + at * kStretch);
    }
  }
}

void Multiply(const PackedMatrix& weights, const RowsShape& shape, const std::byte* laid_out, const PanelShare& share) {
  Check(shape.depth == weights.depth(), "rows of another depth than the weights");
  if (weights.has_blocks()) {
    HWY_DYNAMIC_DISPATCH(MultiplyInts)(weights, shape, laid_out, share);
  } else {
    HWY_DYNAMIC_DISPATCH(MultiplyFloats)(weights, shape, laid_out, share);
  }
}

}  // namespace punt

#endif  // HWY_ONCE
