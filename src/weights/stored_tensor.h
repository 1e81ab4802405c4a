// A tensor as a checkpoint's file holds it, whatever the format of the file.
#pragma once

#include <ggml.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace punt {

struct StoredTensor {
  std::string name;
  std::string dtype;                // safetensors' names: "F32", "BF16", "I64", ...
  std::vector<std::int64_t> shape;  // PyTorch's order: the last dimension is contiguous
  std::span<const std::byte> bytes;
  /// Elements from one index to the next, per dimension; empty: the elements follow each other in the order of the
  /// indices. All elements lie within `bytes`, and there are no more of them than fit in there.
  std::vector<std::int64_t> strides = {};
};

/// Bytes of an element; 0 when the dtype is unknown.
std::size_t DtypeBytes(std::string_view dtype);

/// The ggml type of the dtypes that weights may have (F32, F16, BF16, F64).
std::optional<ggml_type> GgmlType(std::string_view dtype);

/// The tensor's bytes in the order of the indices; out.size() is the number of elements times DtypeBytes.
void CopyInOrder(const StoredTensor& tensor, std::span<std::byte> out);

/// The tensor from row `first` on; it must have more rows.
StoredTensor WithoutRows(StoredTensor tensor, std::int64_t first);

}  // namespace punt
