#include "kernels/linear_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/linear_kernels.cc"
#include "base/highway_targets.h"
// After what it defines.
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/check.h"
#include "kernels/scaled_blocks.h"

HWY_BEFORE_NAMESPACE();
namespace punt {
namespace HWY_NAMESPACE {

// Highway's target of that name has AVX-512 VNNI, but does not tell the compiler. (clang takes only the outermost of
// several such attributes.)
#if HWY_TARGET == HWY_AVX3_DL
#define PUNT_HAS_VNNI 1
HWY_POP_ATTRIBUTES
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512vnni")
#else
#define PUNT_HAS_VNNI 0
#endif

// Whether there is an instruction from f16 to f32.
#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2) || HWY_ARCH_ARM
#define PUNT_PROMOTES_F16 1
#else
#define PUNT_PROMOTES_F16 0
#endif

#include "kernels/float_tiles.inc"
#include "kernels/linear_tiles.inc"
#include "kernels/scaled_tiles.inc"

// What is computed together: a stretch of this many rows, and sums of this many panels, stay in the second-level cache.
constexpr std::int64_t kMostRows = 256;
constexpr std::int64_t kMostPanels = kGroup;

// ---- weights of a stretch as tiles read them: from where they are, or from `room`; the last argument says for which
// rows

template <typename From, typename To>
HWY_INLINE void Widen(const std::uint8_t* weights, std::int64_t count, To* room) {
  const hn::CappedTag<To, 2 * kPanel> d;
  const hn::Rebind<From, decltype(d)> from;
  const auto* numbers = reinterpret_cast<const From*>(weights);
  for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(d))) {
    auto wide = hn::PromoteTo(d, hn::LoadU(from, numbers + i));
#if !PUNT_PROMOTES_F16
    if constexpr (std::is_same_v<From, hwy::float16_t>) {  // without an instruction, infinities and NaN come out finite
      const hn::Rebind<std::uint16_t, decltype(d)> bits;
      const hn::RebindToSigned<decltype(d)> d32;
      const auto all = hn::PromoteTo(d32, hn::LoadU(bits, reinterpret_cast<const std::uint16_t*>(numbers + i)));
      const auto exponent = hn::Set(d32, 0x7c00);
      wide = hn::IfThenElse(hn::RebindMask(d, hn::Eq(hn::And(all, exponent), exponent)), hn::NaN(d), wide);
    }
#endif
    hn::Store(wide, d, room + i);
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

/// Weights of scaled forms times their scales.
HWY_INLINE const std::int16_t* WidenStretch(const PackedMatrix& matrix, std::int64_t panel, std::int64_t begin,
                                            std::int64_t depth, std::int16_t* room, Int12) {
  const std::uint8_t* weights = matrix.Weights(panel, begin);
  const std::int8_t* factors = matrix.Factors(panel, begin);
  if (matrix.DepthBytes(depth) == static_cast<std::size_t>(depth * kPanel)) {
    ScaleWeights(reinterpret_cast<const std::int8_t*>(weights), factors, depth, room);
  } else {
    HWY_ALIGN std::int8_t numbers[kPanel * kStretch];
    LookUpNibbles(weights, matrix.form() == PackedForm::kScaledIq4 ? kIq4Values : kLess8, depth, numbers);
    ScaleWeights(numbers, factors, depth, room);
  }
  return room;
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
      for (std::int64_t panel = share.first; panel < share.last; panel += kTilePanels<Number>) {
        const std::int64_t end = std::min(panel + kTilePanels<Number>, share.last);
        if (end < share.last) {
          PrefetchStretch(end, std::min(end + kTilePanels<Number>, share.last), begin);
        } else if (begin + kStretch < weights_.padded_depth()) {
          PrefetchStretch(share.first, std::min(share.first + kTilePanels<Number>, share.last), begin + kStretch);
        }
        AddStretch(first_row, last_row, {panel, end}, begin, sums_ + (panel - share.first) * count);
      }
    }
    for (std::int64_t row = first_row; row < last_row; ++row) {
      for (std::int64_t panel = share.first; panel < share.last; ++panel) {
        const float* from = sums_ + (panel - share.first) * count + (row - first_row) * kPanel;
        const std::int64_t first = (panel - share.part * weights_.panels_of_part()) * kPanel;
        float* to = share.y + row * weights_.channels() + first;
        const std::int64_t channels = std::min(kPanel, weights_.channels() - first);
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
  struct Panels {
    std::int64_t first;
    std::int64_t last;
  };

  /// Fetches the weights of a stretch that come next.
  HWY_INLINE void PrefetchStretch(std::int64_t first, std::int64_t last, std::int64_t begin) {
    const std::size_t bytes = weights_.DepthBytes(std::min(kStretch, weights_.padded_depth() - begin));
    for (std::int64_t panel = first; panel < last; ++panel) {
      const std::uint8_t* weights = weights_.Weights(panel, begin);
      for (std::size_t i = 0; i < bytes; i += 64) hwy::Prefetch(weights + i);
    }
  }

  /// The sums of panels follow each other.
  HWY_INLINE void AddStretch(std::int64_t first_row, std::int64_t last_row, const Panels& panels, std::int64_t begin,
                             float* sums) {
    // Rows have zeros up to the end of the stretch, so a last block may reach beyond the depth.
    const std::int64_t depth = std::min(kStretch, weights_.padded_depth() - begin);
    const std::int64_t count = panels.last - panels.first;
    Tile<Number> tiles[kTilePanels<Number>];
    for (std::int64_t i = 0; i < count; ++i) tiles[i] = WidenPanel(panels.first + i, begin, depth, wide_[i]);
    for (std::int64_t row = first_row; row < last_row;) {
      const std::int64_t left = last_row - row;
      // Two tiles of four rows are faster than one of six and one of two.
      const std::int64_t most = kRowsOf<Number>;
      const std::int64_t rows = left <= most ? left : left < 2 * most ? (left + 1) / 2 : most;
      const std::int64_t at = begin / kStretch * shape_.rows + row;
      for (std::int64_t i = 0; i < count; ++i) {
        Tile<Number>& tile = tiles[i];
        tile.x = rows_ + at * kStretch;
        tile.row_scales = scales_ + at * kRowScales<Number>;
        tile.excess = excess_ + at * kRowScales<Number>;  // these two are never read if there is none
        tile.piece_sums = reinterpret_cast<const std::int16_t*>(excess_) + at * kPieces;
        tile.sums = sums + (i * (last_row - first_row) + row - first_row) * kPanel;
      }
      if (count == kTilePanels<Number>) {
        ComputeTileOf<kRowsOf<Number>, kTilePanels<Number>>(rows, tiles);
      } else {
        ComputeTileOf<kRowsOf<Number>, 1>(rows, tiles);
      }
      row += rows;
    }
  }

  struct WidePanel {
    HWY_ALIGN Wide<Number> weights[kPanel * kStretch];
    HWY_ALIGN float scales[kStretchBlocks * kPanel];
    HWY_ALIGN float minima[kStretchBlocks * kPanel];
    HWY_ALIGN std::int16_t minimum_factors[kPieces * kPanel];
    HWY_ALIGN float room[kRowsOf<Number> * kPanel];
  };

  HWY_INLINE Tile<Number> WidenPanel(std::int64_t panel, std::int64_t begin, std::int64_t depth, WidePanel& wide) {
    Tile<Number> tile{.weights = WidenStretch(weights_, panel, begin, depth, wide.weights, Number()),
                      .depth = depth,
                      .weight_scales = wide.scales,
                      .room = wide.room};
    if (!weights_.has_blocks()) return tile;
    const std::int64_t count = (weights_.is_scaled() ? 1 : depth / kBlock) * kPanel;
    Widen<hwy::float16_t>(reinterpret_cast<const std::uint8_t*>(weights_.Scales(panel, begin)), count, wide.scales);
    if (weights_.has_minima()) {
      Widen<hwy::float16_t>(reinterpret_cast<const std::uint8_t*>(weights_.Minima(panel, begin)), count, wide.minima);
      tile.weight_minima = wide.minima;
    }
    if (weights_.has_minima() && weights_.is_scaled()) {
      const std::int8_t* factors = weights_.Factors(panel, begin) + kPieces * kPanel;
      Widen<std::int8_t>(reinterpret_cast<const std::uint8_t*>(factors), kPieces * kPanel, wide.minimum_factors);
      tile.minimum_factors = wide.minimum_factors;
    }
    if (weights_.form() == PackedForm::kInt16) {
      for (std::int64_t i = 0; i < count; ++i) wide.scales[i] /= kInt16ScaleFactor;
    }
    return tile;
  }

  const PackedMatrix& weights_;
  const RowsShape& shape_;
  const Number* rows_;
  const float* scales_;
  const std::int32_t* excess_;
  WidePanel wide_[kTilePanels<Number>];
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
  const std::int64_t tiles = (rows + kRowsOf<Number> - 1) / kRowsOf<Number>;
  const std::int64_t portion = std::min((tiles + portions - 1) / portions * kRowsOf<Number>, kMostRows);
  const std::int64_t part = share.part * weights.panels_of_part();
  for (std::int64_t first = share.first_row; first < last; first += portion) {
    for (std::int64_t panel = share.first; panel < share.last; panel += kMostPanels) {
      product.Compute(first, std::min(last, first + portion),
                      {.first = part + panel,
                       .last = part + std::min(share.last, panel + kMostPanels),
                       .y = share.y,
                       .part = share.part});
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

void MultiplyInt12(const PackedMatrix& weights, const RowsShape& shape, const std::byte* laid_out,
                   const PanelShare& share) {
  MultiplyShare<Int12>(weights, shape, laid_out, share);
}

#if PUNT_HAS_VNNI
HWY_POP_ATTRIBUTES
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR)
#endif
#undef PUNT_HAS_VNNI
#undef PUNT_PROMOTES_F16
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
HWY_EXPORT(MultiplyInt12);

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
    case RowsForm::kInt12:
      return HWY_DYNAMIC_DISPATCH(MultiplyInt12)(weights, shape, laid_out, share);
  }
}

}  // namespace punt

#endif  // HWY_ONCE
