// The tensors of a Hugging Face folder by name, whichever of its safetensors files they lie in.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "weights/safetensors.h"

namespace punt {

/// model.safetensors, or the files that model.safetensors.index.json lists. Immutable; may be shared.
class HfShards {
 public:
  /// Throws Error naming the file: none there, broken, a name in two files, an index that says otherwise.
  explicit HfShards(const std::filesystem::path& folder);

  struct Tensor {
    const SafetensorsEntry* entry;
    const SafetensorsFile* file;
  };
  const std::map<std::string, Tensor>& tensors() const { return tensors_; }
  /// What an error about the checkpoint as a whole calls it: the only file, or the index.
  const std::string& origin() const { return origin_; }

 private:
  std::vector<SafetensorsFile> files_;
  std::map<std::string, Tensor> tensors_;
  std::string origin_;
};

}  // namespace punt
