#include "model/requantise.h"

#include <cmath>
#include <cstring>

#include "base/check.h"

namespace punt {
namespace {

constexpr float kMostHalf = 65504.0F;  // the largest 16-bit float; ggml's blocks have scales of that type

/// ggml's block quantisers search grids and may abort on what is not finite, so such weights never reach them.
BadWeights Tame(std::span<float> row) {
  BadWeights bad;
  for (float& weight : row) {
    if (!std::isfinite(weight)) {
      weight = 0;
      ++bad.not_finite;
    } else if (std::fabs(weight) > kMostHalf) {
      weight = std::copysign(kMostHalf, weight);
      ++bad.clamped;
    }
  }
  return bad;
}

BadWeights Count(std::span<const float> row) {
  BadWeights bad;
  for (const float weight : row) bad.not_finite += std::isfinite(weight) ? 0 : 1;
  return bad;
}

}  // namespace

Requantiser::Requantiser(ggml_type from, ggml_type to, std::int64_t row, ThreadPool& pool)
    : from_(from), to_(to), row_(row), pool_(pool), scratch_(static_cast<std::size_t>(pool.size())) {
  Check(row > 0 && row % ggml_blck_size(from) == 0 && row % ggml_blck_size(to) == 0, "rows of another block size");
  for (std::vector<float>& scratch : scratch_) scratch.resize(static_cast<std::size_t>(row));
  ggml_quantize_init(to);  // tables, made once and not by the first thread that needs them
}

BadWeights Requantiser::ConvertRow(const std::byte* in, std::byte* out, std::vector<float>& scratch) const {
  if (from_ == GGML_TYPE_F32) {
    std::memcpy(scratch.data(), in, row_bytes_in());
  } else {
    ggml_get_type_traits(from_)->to_float(in, scratch.data(), row_);
  }
  if (from_ == to_) {
    std::memcpy(out, in, row_bytes_in());
    return Count(scratch);
  }
  const bool is_wide = to_ == GGML_TYPE_F32 || to_ == GGML_TYPE_BF16;
  const BadWeights bad = is_wide ? Count(scratch) : Tame(scratch);
  ggml_quantize_chunk(to_, scratch.data(), out, 0, 1, row_, nullptr);
  return bad;
}

BadWeights Requantiser::Convert(std::span<const std::byte> in, std::span<std::byte> out) {
  const std::size_t rows = in.size() / row_bytes_in();
  Check(in.size() == rows * row_bytes_in() && out.size() == rows * row_bytes_out(), "rows that are not whole");
  std::vector<BadWeights> bad(scratch_.size());
  pool_.For(rows, [&](std::size_t begin, std::size_t end, int worker) {
    const auto own = static_cast<std::size_t>(worker);
    BadWeights sum;
    for (std::size_t row = begin; row < end; ++row) {
      const BadWeights one =
          ConvertRow(in.data() + row * row_bytes_in(), out.data() + row * row_bytes_out(), scratch_[own]);
      sum.not_finite += one.not_finite;
      sum.clamped += one.clamped;
    }
    bad[own] = sum;
  });
  BadWeights total;
  for (const BadWeights& one : bad) {
    total.not_finite += one.not_finite;
    total.clamped += one.clamped;
  }
  return total;
}

}  // namespace punt
