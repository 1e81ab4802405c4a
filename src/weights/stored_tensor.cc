#include "weights/stored_tensor.h"

#include <cstring>

#include "base/check.h"

namespace punt {
namespace {

struct DtypeRow {
  std::string_view name;
  std::size_t bytes;
};

constexpr DtypeRow kDtypes[] = {{"F64", 8}, {"F32", 4}, {"F16", 2},  {"BF16", 2},    {"I64", 8},
                                {"I32", 4}, {"I16", 2}, {"I8", 1},   {"U64", 8},     {"U32", 4},
                                {"U16", 2}, {"U8", 1},  {"BOOL", 1}, {"F8_E4M3", 1}, {"F8_E5M2", 1}};

}  // namespace

std::size_t DtypeBytes(std::string_view dtype) {
  for (const DtypeRow& row : kDtypes) {
    if (row.name == dtype) return row.bytes;
  }
  return 0;
}

std::optional<ggml_type> GgmlType(std::string_view dtype) {
  if (dtype == "F32") return GGML_TYPE_F32;
  if (dtype == "F16") return GGML_TYPE_F16;
  if (dtype == "BF16") return GGML_TYPE_BF16;
  if (dtype == "F64") return GGML_TYPE_F64;
  return std::nullopt;
}

void CopyInOrder(const StoredTensor& tensor, std::span<std::byte> out) {
  if (tensor.strides.empty()) {
    Check(out.size() == tensor.bytes.size(), "a buffer of another size than the tensor");
    if (!out.empty()) std::memcpy(out.data(), tensor.bytes.data(), out.size());
    return;
  }
  const std::size_t size = DtypeBytes(tensor.dtype);
  const std::size_t rank = tensor.shape.size();
  std::vector<std::int64_t> index(rank);
  std::int64_t at = 0;  // offset of the element that `index` names
  for (std::size_t to = 0; to < out.size(); to += size) {
    const std::size_t from = static_cast<std::size_t>(at) * size;
    Check(from + size <= tensor.bytes.size(), "an element outside its tensor");
    std::memcpy(out.data() + to, tensor.bytes.data() + from, size);
    for (std::size_t d = rank; d-- > 0;) {
      at += tensor.strides[d];
      if (++index[d] < tensor.shape[d]) break;
      at -= tensor.strides[d] * tensor.shape[d];
      index[d] = 0;
    }
  }
}

StoredTensor WithoutRows(StoredTensor tensor, std::int64_t first) {
  Check(first >= 0 && !tensor.shape.empty() && first < tensor.shape[0], "rows that a tensor does not have");
  std::int64_t row = 1;  // elements from one to the next
  for (std::size_t d = 1; d < tensor.shape.size(); ++d) row *= tensor.shape[d];
  if (!tensor.strides.empty()) row = tensor.strides[0];
  tensor.bytes = tensor.bytes.subspan(static_cast<std::size_t>(first * row) * DtypeBytes(tensor.dtype));
  tensor.shape[0] -= first;
  return tensor;
}

}  // namespace punt
