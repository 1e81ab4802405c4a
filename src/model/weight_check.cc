#include "model/weight_check.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/check.h"

namespace punt {

std::int64_t CountNotFinite(const WeightSource& source, std::size_t index, ThreadPool& pool) {
  const TensorInfo& info = source.tensors()[index];
  const ggml_to_float_t to_float = ggml_get_type_traits(info.type)->to_float;
  if (info.type != GGML_TYPE_F32 && to_float == nullptr) return 0;  // integers
  std::vector<std::byte> copy;
  std::span<const std::byte> bytes = source.Mapped(index);
  if (bytes.empty()) {
    copy.resize(info.bytes());
    source.Read(index, copy);
    bytes = copy;
  }
  const std::size_t row_bytes = ggml_row_size(info.type, info.shape[0]);
  std::atomic<std::int64_t> total = 0;
  pool.For(bytes.size() / row_bytes, [&](std::size_t begin, std::size_t end, int) {
    std::vector<float> row(static_cast<std::size_t>(info.shape[0]));
    std::int64_t count = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const std::byte* from = bytes.data() + i * row_bytes;
      if (info.type == GGML_TYPE_F32) {
        std::memcpy(row.data(), from, row_bytes);
      } else {
        to_float(from, row.data(), info.shape[0]);
      }
      for (float weight : row) count += std::isfinite(weight) ? 0 : 1;
    }
    total += count;
  });
  return total;
}

}  // namespace punt
