// The safetensors format: 8 bytes of header length (little-endian), a JSON header that maps names to
// {dtype, shape, data_offsets}, then the bytes of the tensors without gaps. https://github.com/huggingface/safetensors
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weights/mapped_file.h"
#include "weights/stored_tensor.h"

namespace punt {

/// Reads the header in `file` and points the entries into it, in the order of their bytes. Throws Error that names
/// `origin` and the offending tensor and field: wrong lengths, not JSON, duplicate names, unknown dtypes, shapes that
/// do not fit their bytes, offsets out of bounds, gaps and overlaps. Never allocates more than the header justifies.
std::vector<StoredTensor> ParseSafetensors(std::span<const std::byte> file, std::string_view origin);

/// A memory-mapped file. Immutable; may be shared between threads.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(std::filesystem::path path);

  const std::filesystem::path& path() const { return file_.path(); }
  std::span<const StoredTensor> entries() const { return entries_; }

 private:
  MappedFile file_;
  std::vector<StoredTensor> entries_;
};

/// A float32 tensor to be written, shape in PyTorch's order; `values` has as many numbers as that says.
struct SafetensorsTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::span<const float> values;
};

/// Writes the tensors in their order; the file appears whole or not at all. Throws Error when it cannot be
/// written or a name occurs twice.
void WriteSafetensors(const std::filesystem::path& path, std::span<const SafetensorsTensor> tensors);

}  // namespace punt
