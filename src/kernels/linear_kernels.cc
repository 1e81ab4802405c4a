#include "kernels/linear_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/linear_kernels.cc"
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)  // no vectors in arrays
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/check.h"

HWY_BEFORE_NAMESPACE();
namespace punt {
namespace HWY_NAMESPACE {

#include "kernels/float_tiles.inc"
#include "kernels/linear_tiles.inc"

// What is computed together: a stretch of this many rows, and sums of this many panels, stay in the second-level cache.
constexpr std::int64_t kMostRows = 256;
constexpr std::int64_t kMostPanels = kGroup;

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
      if (weights_.has_minima()) {
        Widen<hwy::float16_t>(reinterpret_cast<const std::uint8_t*>(weights_.Minima(panel, begin)),
                              depth / kBlock * kPanel, wide_minima_);
        tile.weight_minima = wide_minima_;
      }
      if (weights_.form() == PackedForm::kInt16) {
        for (std::int64_t i = 0; i < depth / kBlock * kPanel; ++i) wide_scales_[i] /= kInt16ScaleFactor;
      }
    }
    for (std::int64_t row = first_row; row < last_row; row += kTileRows) {
      const std::int64_t at = begin / kStretch * shape_.rows + row;
      tile.x = rows_ + at * kStretch;
      tile.row_scales = scales_ + at * kRowScales<Number>;
      tile.excess = excess_ + at * kRowScales<Number>;  // never read if there is none
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
  HWY_ALIGN float wide_minima_[kStretchBlocks * kPanel];
  HWY_ALIGN float room_[kTileRows * kPanel];
  HWY_ALIGN float sums_[kMostPanels * kMostRows * kPanel];
};

template <typename Number>
void MultiplyShare(const PackedMatrix& weights, const RowsShape& shape, const std::byte* laid_out,
                   const PanelShare& share) {
  Product<Number> product(weights, shape, laid_out);
  // Portions of rows of about equal size, of whole tiles: each widens all weights anew.
  const std::int64_t last = share.last_row < 0 ? shape.rows : share.last_row;
  const std::int64_t rows = last - share.first_row;
  const std::int64_t portions = (rows + kMostRows - 1) / kMostRows;
  const std::int64_t tiles = (rows + kTileRows - 1) / kTileRows;
  const std::int64_t portion = std::min((tiles + portions - 1) / portions * kTileRows, kMostRows);
  for (std::int64_t first = share.first_row; first < last; first += portion) {
    for (std::int64_t panel = share.first; panel < share.last; panel += kMostPanels) {
      product.Compute(first, std::min(last, first + portion),
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

}  // namespace

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
