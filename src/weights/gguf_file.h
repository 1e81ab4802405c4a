// The header of a GGUF file, checked beyond what ggml's parser checks.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "weights/metadata.h"
#include "weights/weight_source.h"

namespace punt {

struct GgufTensor {
  TensorInfo info;
  std::span<const std::byte> bytes;
};

struct GgufContents {
  Metadata metadata;
  std::vector<GgufTensor> tensors;  // pointing into the file
};

/// Throws Error naming `origin` and the cause for anything but a sound GGUF file of version 2 or 3, in which no tensor
/// is empty, has a type that ggml does not know, or reaches beyond the end.
GgufContents ParseGguf(std::span<const std::byte> file, std::string_view origin);

/// Whether ggml can compute with a tensor of `type` at this address; in memory-mapped files it may be anywhere.
bool IsAligned(std::span<const std::byte> bytes, ggml_type type);

}  // namespace punt
