// Rows of weights from one type to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "weights/weight_source.h"

namespace punt {

/// Weights that a type cannot hold, see ConvertResult.
struct BadWeights {
  std::int64_t not_finite = 0;
  std::int64_t clamped = 0;
};

/// Used by one caller at a time. Each row is converted on its own, so the result does not depend on how many are
/// given at once, nor on the threads of the pool.
class Requantiser {
 public:
  /// Both are weight types (weight_types.h) whose blocks divide `row`, the number of weights in a row.
  Requantiser(ggml_type from, ggml_type to, std::int64_t row, ThreadPool& pool);

  std::size_t row_bytes_in() const { return ggml_row_size(from_, row_); }
  std::size_t row_bytes_out() const { return ggml_row_size(to_, row_); }

  /// `in` holds whole rows, and `out` has room for the same number. Equal types are copied bit by bit.
  BadWeights Convert(std::span<const std::byte> in, std::span<std::byte> out);

 private:
  BadWeights ConvertRow(const std::byte* in, std::byte* out, std::vector<float>& scratch) const;

  ggml_type from_;
  ggml_type to_;
  std::int64_t row_;
  ThreadPool& pool_;
  std::vector<std::vector<float>> scratch_;  // a row per thread
};

}  // namespace punt
