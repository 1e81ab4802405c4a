// Where weights come from: metadata and named tensors in llama.cpp's dialect of GGUF, whatever the files on disk
// are. The engine, the converter and `punt inspect` read models only through this interface.
#pragma once

#include <ggml.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weights/metadata.h"

namespace punt {

/// A tensor as GGUF describes it. shape is in ggml's order: shape[0] is the contiguous dimension, so a linear
/// layer [out, in] of PyTorch has shape {in, out, 1, 1}.
struct TensorInfo {
  std::string name;
  ggml_type type = GGML_TYPE_F32;
  std::array<std::int64_t, 4> shape = {1, 1, 1, 1};

  std::int64_t elements() const { return shape[0] * shape[1] * shape[2] * shape[3]; }
  std::size_t bytes() const { return ggml_row_size(type, shape[0]) * static_cast<std::size_t>(elements() / shape[0]); }
};

/// Immutable once opened; all functions may be called from several threads.
class WeightSource {
 public:
  virtual ~WeightSource() = default;
  WeightSource() = default;
  WeightSource(const WeightSource&) = delete;
  WeightSource& operator=(const WeightSource&) = delete;

  virtual const Metadata& metadata() const = 0;
  /// In the order of the file.
  virtual std::span<const TensorInfo> tensors() const = 0;
  /// The bytes of tensors()[index] in a memory-mapped file, valid as long as the source; empty when
  /// the tensor does not exist in that form (a Hugging Face tensor that must be permuted or stacked).
  virtual std::span<const std::byte> Mapped(std::size_t index) const = 0;
  /// Copies or makes the bytes of tensors()[index]; out.size() == bytes().
  virtual void Read(std::size_t index, std::span<std::byte> out) const = 0;

  /// What a user should know about the files, one line each.
  virtual std::span<const std::string> warnings() const { return {}; }

  /// Index into tensors(), or -1.
  std::ptrdiff_t Find(std::string_view name) const;
};

/// A GGUF file, memory-mapped. Split files (name-00001-of-00003.gguf) are opened by their first part.
std::unique_ptr<WeightSource> OpenGguf(const std::filesystem::path& file);

/// A Hugging Face folder: config.json and safetensors or PyTorch checkpoints (pytorch_model.bin), one file or
/// sharded. Metadata holds the architecture's keys (llama.cpp's names) but no tokenizer. Matrices keep their type (f32,
/// f16, bf16); f64 becomes f32.
std::unique_ptr<WeightSource> OpenHfFolder(const std::filesystem::path& folder);

}  // namespace punt
