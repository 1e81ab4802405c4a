// Statistics of a row in one pass, and Gumbel-max in the same pass.
//
// Statistics. With z = x - reference, the sums S = sum e^z and W = sum z e^z give ln-sum-exp = reference + ln S
// and entropy = ln S - W / S. The reference trails the running maximum by at most 1 (row_kernels_vector.inc),
// so no pass for the maximum comes first. The two largest need no branch: second = max(second, min(x, top)).
// The argmax is not tracked at all: the chunk in which the maximum last grew is, and is searched at the end.
//
// Gumbel-max. argmax_v x_v + T g_v in float64 would take two logarithms per token; nearly all tokens can be
// ruled out with 16 bits of hash. With w in [h, h + 1) / 2^16, g = -ln(-ln(1 - w)) <= -ln w <= -ln(h / 2^16),
// and the bits of a float, read as an integer, are a lower bound of its binary logarithm (linear between
// powers of two). So the bound costs two conversions and a multiplication, and only tokens whose bound exceeds
// the best value so far, some ln V of V, are evaluated exactly. A hash of 32 bits serves two tokens, 64 apart, so
// that no lanes have to be shuffled. The bound is computed in float; a slack well above its rounding error keeps the
// result that of the plain loop over all tokens, exactly. Where even the largest Gumbel would not be enough, which at
// low temperatures is nearly everywhere, not even the hash is computed.
//
// Cost: one read of the row; the draw reads each chunk a second time from the first-level cache.
// Tested by row_kernels_test.cc on every instruction set that the machine has.
#include "kernels/row_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/row_kernels_stats.cc"
#include "base/highway_targets.h"
// After what it defines.
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "kernels/row_kernels_draw.h"

HWY_BEFORE_NAMESPACE();
namespace punt {
namespace HWY_NAMESPACE {

#include "kernels/row_kernels_vector.inc"

constexpr std::size_t kChunkGroups = 32;

template <class D>
class StatsPass {
 public:
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  static constexpr std::size_t kGroup = kUnroll * hn::MaxLanes(D());
  static constexpr std::size_t kChunk = kGroup * kChunkGroups;

  // Spelt out because implicit constructors are not compiled for the instruction set.
  HWY_INLINE StatsPass()
      : top_(hn::Set(D(), -std::numeric_limits<T>::infinity())),
        second_(hn::Set(D(), -std::numeric_limits<T>::infinity())) {}

  /// `count` tokens from `begin` on, a multiple of kGroup, at most kChunk.
  HWY_INLINE void AddChunk(const T* x, std::size_t begin, std::size_t count) {
    const D d;
    Sums<D> sums;
    Sums<D> weighted;
    V top = top_;
    V second = second_;
    V reference = reference_.Vector();
    for (std::size_t i = 0; i < count; i += kGroup) {
      V z[kUnroll];
      for (std::size_t u = 0; u < kUnroll; ++u) {
        z[u] = hn::LoadU(d, x + i + u * hn::Lanes(d));
        second = hn::Max(second, hn::Min(z[u], top));
        top = hn::Max(top, z[u]);
      }
      if (HWY_UNLIKELY(!reference_.Covers(top))) {
        Take(sums, weighted);
        MoveReference(top);
        reference = reference_.Vector();
      }
      for (V& each : z) each = ClampForExp(d, hn::Sub(each, reference));
      V e[kUnroll];
      Exp(d, z, e);
      for (std::size_t u = 0; u < kUnroll; ++u) {
        sums.parts[u % kParts] = hn::Add(sums.parts[u % kParts], e[u]);
        weighted.parts[u % kParts] = hn::MulAdd(e[u], z[u], weighted.parts[u % kParts]);
      }
    }
    Take(sums, weighted);
    if (!hn::AllTrue(d, hn::Le(top, hn::Set(d, largest_)))) {
      largest_ = hn::GetLane(hn::MaxOfLanes(d, top));
      largest_chunk_ = begin;
    }
    top_ = top;
    second_ = second;
  }

  RowStats Finish(std::span<const T> row) const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const auto count = static_cast<double>(row.size());
    if (sum_ == 0) {  // everything at -infinity counts as a row of zeros
      return {std::log(count), std::log(count), 0, row.size() > 1 ? 0 : -kInfinity, 0};
    }
    RowStats stats;
    stats.log_sum_exp = static_cast<double>(reference_.value) + std::log(sum_);
    stats.entropy = std::clamp(std::log(sum_) - weighted_ / sum_, 0.0, std::log(count));
    stats.top = static_cast<double>(largest_);
    stats.second = SecondOfLanes();
    const auto first = row.begin() + static_cast<std::ptrdiff_t>(largest_chunk_);
    stats.top_token = static_cast<Token>(std::find(first, row.end(), largest_) - row.begin());
    return stats;
  }

 private:
  HWY_INLINE void Take(Sums<D>& sums, Sums<D>& weighted) {
    sum_ += sums.Take();
    weighted_ += weighted.Take();
  }

  void MoveReference(V x) {
    const double shift = reference_.MoveTo(x);
    if (sum_ == 0) return;
    weighted_ = std::exp(shift) * (weighted_ + shift * sum_);
    sum_ *= std::exp(shift);
  }

  /// Largest of all lanes of top_ and second_ but for one copy of the maximum.
  double SecondOfLanes() const {
    const D d;
    HWY_ALIGN T tops[hn::MaxLanes(D())];
    HWY_ALIGN T seconds[hn::MaxLanes(D())];
    hn::Store(top_, d, tops);
    hn::Store(second_, d, seconds);
    *std::max_element(tops, tops + hn::Lanes(d)) = -std::numeric_limits<T>::infinity();
    return static_cast<double>(
        std::max(*std::max_element(tops, tops + hn::Lanes(d)), *std::max_element(seconds, seconds + hn::Lanes(d))));
  }

  Reference<D> reference_;
  double sum_ = 0;
  double weighted_ = 0;
  V top_;
  V second_;
  T largest_ = -std::numeric_limits<T>::infinity();
  std::size_t largest_chunk_ = 0;
};

/// Hashing takes more steps from token to result than the statistics, and needs fewer registers.
constexpr std::size_t kDrawUnroll = 8;

using Df = hn::ScalableTag<float>;
using Vf = hn::Vec<Df>;
using Vu = hn::Vec<hn::RebindToUnsigned<Df>>;

constexpr std::size_t kPair = static_cast<std::size_t>(kTokenPairDistance);
constexpr std::size_t kDrawBlock = 2 * kPair;  // tokens that share their hashes among themselves

/// TokenPairHash (punt/random.h) by lanes. x comes as token + low half of the stream's name. Between the two
/// rounds of the hash, x ^ x >> 16 is applied twice with ^ high in between, which comes to ^ high ^ high >> 16.
template <std::size_t N>
HWY_INLINE void PairHash(Vu (&x)[N], Vu folded_high) {
  const hn::RebindToUnsigned<Df> du;
  const Vu first = hn::Set(du, 0x7feb352du);
  const Vu second = hn::Set(du, 0x846ca68bu);
  for (Vu& each : x) each = hn::Mul(hn::Xor(each, hn::ShiftRight<16>(each)), first);
  for (Vu& each : x) each = hn::Mul(hn::Xor(each, hn::ShiftRight<15>(each)), second);
  for (Vu& each : x) each = hn::Mul(hn::Xor(each, folded_high), first);
  for (Vu& each : x) each = hn::Mul(hn::Xor(each, hn::ShiftRight<15>(each)), second);
  for (Vu& each : x) each = hn::Xor(each, hn::ShiftRight<16>(each));
}

/// x + slope * bits(float(leading)): see GumbelDraw.
HWY_INLINE Vf DrawBound(Vf x, Vu leading, Vf slope) {
  const Df df;
  const hn::RebindToSigned<Df> di;
  const Vf as_float = hn::ConvertTo(df, hn::BitCast(di, leading));
  return hn::MulAdd(hn::ConvertTo(df, hn::BitCast(di, as_float)), slope, x);
}

/// Considers the tokens begin, begin + 1, ... whose logits are row[...]; `rough` are the same in float. begin and
/// count are multiples of kDrawBlock.
template <typename T>
HWY_INLINE void DrawChunk(const T* row, const float* rough, std::size_t begin, std::size_t count, GumbelDraw& draw) {
  const Df df;
  const hn::RebindToUnsigned<Df> du;
  constexpr std::size_t kLanes = hn::MaxLanes(Df());
  constexpr std::size_t kVectors = std::min(kDrawUnroll, kPair / kLanes);
  constexpr std::size_t kSpan = kVectors * kLanes;  // first tokens of pairs, and their seconds, done at a time
  const auto low = static_cast<std::uint32_t>(draw.stream_name);
  const auto high = static_cast<std::uint32_t>(draw.stream_name >> 32);
  const Vu folded_high = hn::Set(du, high ^ (high >> 16));
  const Vu lower_half = hn::Set(du, 0xffffu);
  HWY_ALIGN std::uint32_t ramp[kSpan];
  for (std::size_t j = 0; j < kSpan; ++j) ramp[j] = low + static_cast<std::uint32_t>(begin + j);
  const Vf slope = hn::Set(df, draw.Slope());
  float limit = draw.Limit();
  Vf hopeless = hn::Set(df, draw.Hopeless());
  for (std::size_t i = 0; i < count; i = (i + kSpan) % kPair == 0 ? i + kSpan + kPair : i + kSpan) {
    const float* firsts = rough + i;
    const float* seconds = firsts + kPair;
    Vf highest = hn::Max(hn::LoadU(df, firsts), hn::LoadU(df, seconds));
    for (std::size_t u = 1; u < kVectors; ++u) {
      highest = hn::Max(highest, hn::Max(hn::LoadU(df, firsts + u * kLanes), hn::LoadU(df, seconds + u * kLanes)));
    }
    if (hn::AllTrue(df, hn::Le(highest, hopeless))) continue;
    Vu hash[kVectors];
    const Vu offset = hn::Set(du, static_cast<std::uint32_t>(i));
    for (std::size_t u = 0; u < kVectors; ++u) hash[u] = hn::Add(offset, hn::Load(du, ramp + u * kLanes));
    PairHash(hash, folded_high);
    Vf bound[2][kVectors];
    for (std::size_t u = 0; u < kVectors; ++u) {
      bound[0][u] = DrawBound(hn::LoadU(df, firsts + u * kLanes), hn::And(hash[u], lower_half), slope);
      bound[1][u] = DrawBound(hn::LoadU(df, seconds + u * kLanes), hn::ShiftRight<16>(hash[u]), slope);
    }
    highest = hn::Max(bound[0][0], bound[1][0]);
    for (std::size_t u = 1; u < kVectors; ++u) highest = hn::Max(highest, hn::Max(bound[0][u], bound[1][u]));
    if (HWY_LIKELY(hn::AllTrue(df, hn::Le(highest, hn::Set(df, limit))))) continue;
    for (std::size_t half = 0; half < 2; ++half) {
      HWY_ALIGN float bounds[kSpan];
      for (std::size_t u = 0; u < kVectors; ++u) hn::Store(bound[half][u], df, bounds + u * kLanes);
      for (std::size_t j = 0; j < kSpan; ++j) {
        if (bounds[j] <= limit) continue;
        const std::size_t at = i + half * kPair + j;
        draw.Consider(static_cast<double>(row[at]), static_cast<Token>(begin + at));
        limit = draw.Limit();
      }
    }
    hopeless = hn::Set(df, draw.Hopeless());
  }
}

template <typename T>
HWY_INLINE void DrawChunk(const T* row, std::size_t begin, std::size_t count, GumbelDraw& draw) {
  if constexpr (std::is_same_v<T, float>) {
    DrawChunk(row, row, begin, count, draw);
  } else {
    HWY_ALIGN float rough[kDrawBlock];
    for (std::size_t i = 0; i < count; i += kDrawBlock) {
      for (std::size_t j = 0; j < kDrawBlock; ++j) rough[j] = static_cast<float>(row[i + j]);
      DrawChunk(row + i, rough, begin + i, kDrawBlock, draw);
    }
  }
}

template <typename T>
RowStats Summarise(std::span<const T> row, GumbelDraw* draw) {
  using D = hn::ScalableTag<T>;
  using Pass = StatsPass<D>;
  Pass pass;
  constexpr std::size_t kBlock = std::max(kDrawBlock, Pass::kGroup);
  static_assert(kBlock % kDrawBlock == 0 && kBlock % Pass::kGroup == 0 && Pass::kChunk % kBlock == 0);
  const std::size_t whole = row.size() / kBlock * kBlock;
  for (std::size_t begin = 0; begin < whole; begin += Pass::kChunk) {
    const std::size_t count = std::min(Pass::kChunk, whole - begin);
    pass.AddChunk(row.data() + begin, begin, count);
    if (draw != nullptr) DrawChunk(row.data() + begin, begin, count, *draw);
  }
  if (whole < row.size()) {
    const PaddedTail<D, kBlock> tail(row.subspan(whole));
    pass.AddChunk(tail.data(), whole, kBlock);
    if (draw != nullptr) DrawChunk(tail.data(), whole, kBlock, *draw);
  }
  return pass.Finish(row);
}

RowStats SummariseFloat(std::span<const float> row, GumbelDraw* draw) { return Summarise(row, draw); }
RowStats SummariseDouble(std::span<const double> row, GumbelDraw* draw) { return Summarise(row, draw); }

}  // namespace HWY_NAMESPACE
}  // namespace punt
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace punt {
namespace {

HWY_EXPORT(SummariseFloat);
HWY_EXPORT(SummariseDouble);

RowStats Dispatch(std::span<const float> row, GumbelDraw* draw) {
  return HWY_DYNAMIC_DISPATCH(SummariseFloat)(row, draw);
}

RowStats Dispatch(std::span<const double> row, GumbelDraw* draw) {
  return HWY_DYNAMIC_DISPATCH(SummariseDouble)(row, draw);
}

/// Without bounds: for rows that are -infinity throughout, and for absurd temperatures.
template <typename T>
void DrawPlainly(std::span<const T> row, bool flat, GumbelDraw& draw) {
  for (std::size_t v = 0; v < row.size(); ++v) {
    draw.Consider(flat ? 0.0 : static_cast<double>(row[v]), static_cast<Token>(v));
  }
}

}  // namespace

template <typename T>
RowStats SummariseRow(std::span<const T> row) {
  return Dispatch(row, nullptr);
}

template <typename T>
RowStats SummariseAndDraw(std::span<const T> row, double temperature, std::uint64_t stream_name, Token* drawn) {
  GumbelDraw draw{.temperature = temperature, .stream_name = stream_name};
  const RowStats stats = Dispatch(row, draw.HasBounds() ? &draw : nullptr);
  const bool flat = std::isinf(row[static_cast<std::size_t>(stats.top_token)]);
  if (flat || !draw.HasBounds()) DrawPlainly(row, flat, draw);
  *drawn = draw.token;
  return stats;
}

template RowStats SummariseRow(std::span<const float>);
template RowStats SummariseRow(std::span<const double>);
template RowStats SummariseAndDraw(std::span<const float>, double, std::uint64_t, Token*);
template RowStats SummariseAndDraw(std::span<const double>, double, std::uint64_t, Token*);

}  // namespace punt
#endif  // HWY_ONCE
