// The tensors of a Hugging Face folder by name, whichever of its files they are in.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "weights/mapped_file.h"
#include "weights/stored_tensor.h"

namespace punt {

/// A memory-mapped file of tensors: safetensors, going by its name, or a PyTorch checkpoint. Immutable; may be shared.
class TensorFile {
 public:
  explicit TensorFile(std::filesystem::path path);

  const std::filesystem::path& path() const { return file_.path(); }
  std::span<const StoredTensor> tensors() const { return tensors_; }

 private:
  MappedFile file_;
  std::vector<StoredTensor> tensors_;
};

/// The first of these that the folder has: model.safetensors.index.json and the files that it lists,
/// model.safetensors, pytorch_model.bin.index.json and its files, pytorch_model.bin, model.pt, model.pth.
/// Immutable; may be shared.
class HfShards {
 public:
  /// Throws Error naming the file: it is missing or broken, a name is in two files, or the index says otherwise.
  explicit HfShards(const std::filesystem::path& folder);

  struct Tensor {
    const StoredTensor* entry;
    const TensorFile* file;
  };
  const std::map<std::string, Tensor>& tensors() const { return tensors_; }
  /// What an error about the checkpoint as a whole calls it: the only file, or the index.
  const std::string& origin() const { return origin_; }

 private:
  std::vector<TensorFile> files_;
  std::map<std::string, Tensor> tensors_;
  std::string origin_;
};

}  // namespace punt
