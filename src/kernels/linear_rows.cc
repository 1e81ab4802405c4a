#include "kernels/linear_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/linear_rows.cc"
#include "base/highway_targets.h"
// After what it defines.
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <numeric>

HWY_BEFORE_NAMESPACE();
namespace punt {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, kPanel>;
constexpr std::int64_t kLanes = hn::MaxLanes(Floats());

/// Rounds `count` numbers to `steps` steps on either side of 0; returns their common factor.
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
float RoundStretchTo12(const float* x, std::int16_t* rounded) { return Round(x, kStretch, 2047.0f, rounded); }
float RoundBlock(const float* x, std::int8_t* rounded) { return Round(x, kBlock, 127.0f, rounded); }

}  // namespace HWY_NAMESPACE
}  // namespace punt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace punt {
namespace {

HWY_EXPORT(RoundStretch);
HWY_EXPORT(RoundStretchTo12);
HWY_EXPORT(RoundBlock);

}  // namespace

void LayOutRows(RowsForm form, const RowsShape& shape, const RowsShare& share, std::byte* laid_out) {
  auto* scales16 = reinterpret_cast<float*>(laid_out + shape.numbers() * 2);
  auto* scales8 = reinterpret_cast<float*>(laid_out + shape.numbers());
  auto* excess = reinterpret_cast<std::int32_t*>(scales8 + shape.numbers() / kBlock);
  auto* sums = reinterpret_cast<std::int16_t*>(scales16 + shape.stretches() * shape.rows);
  for (std::int64_t s = 0; s < shape.stretches(); ++s) {
    const std::int64_t depth = std::min(kStretch, shape.depth - s * kStretch);
    for (std::int64_t row = share.first; row < share.last; ++row) {
      const std::int64_t at = s * shape.rows + row;
      const float* x = share.x + row * share.stride + s * kStretch;
      float padded[kStretch];  // not set unless the stretch ends early: most do not
      if (depth < kStretch) {
        std::fill(std::copy_n(x, depth, padded), padded + kStretch, 0.0f);
        x = padded;
      }
      switch (form) {
        case RowsForm::kFloat:
          std::copy_n(x, kStretch, reinterpret_cast<float*>(laid_out) + at * kStretch);
          break;
        case RowsForm::kInt16:
          scales16[at] =
              HWY_DYNAMIC_DISPATCH(RoundStretch)(x, reinterpret_cast<std::int16_t*>(laid_out) + at * kStretch);
          break;
        case RowsForm::kInt12: {
          auto* out = reinterpret_cast<std::int16_t*>(laid_out) + at * kStretch;
          scales16[at] = HWY_DYNAMIC_DISPATCH(RoundStretchTo12)(x, out);
          for (std::int64_t piece = 0; piece < kPieces; ++piece, out += kPiece) {
            sums[at * kPieces + piece] = static_cast<std::int16_t>(std::accumulate(out, out + kPiece, 0));
          }
          break;
        }
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

void GatherRows(RowsForm form, const RowsShape& shape, const std::byte* laid_out, std::span<const std::int64_t> rows,
                std::byte* gathered) {
  for (std::size_t bytes : RowsShape::RowBytes(form)) {
    for (std::int64_t s = 0; s < shape.stretches() && bytes > 0; ++s) {
      for (std::int64_t row : rows) {
        std::memcpy(gathered, laid_out + static_cast<std::size_t>(s * shape.rows + row) * bytes, bytes);
        gathered += bytes;
      }
    }
    laid_out += static_cast<std::size_t>(shape.stretches() * shape.rows) * bytes;
  }
}

}  // namespace punt

#endif  // HWY_ONCE
