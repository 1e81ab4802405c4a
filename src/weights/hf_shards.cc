#include "weights/hf_shards.h"

#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/check.h"
#include "base/parse_json.h"
#include "weights/hf_folder.h"
#include "weights/pytorch.h"
#include "weights/safetensors.h"

namespace punt {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// In the order in which they are tried.
constexpr const char* kFiles[] = {"model.safetensors.index.json",
                                  "model.safetensors",
                                  "pytorch_model.bin.index.json",
                                  "pytorch_model.bin",
                                  "model.pt",
                                  "model.pth"};

fs::path FindWeights(const fs::path& folder) {
  for (const char* name : kFiles) {
    if (fs::exists(folder / name)) return folder / name;
  }
  BadInput("{}: no weights: none of these files is there: {}", folder.string(), fmt::join(kFiles, ", "));
}

std::vector<StoredTensor> ParseTensors(const MappedFile& file) {
  const std::string origin = file.path().string();
  return file.path().extension() == ".safetensors" ? ParseSafetensors(file.bytes(), origin)
                                                   : ParsePytorch(file.bytes(), origin);
}

/// weight_map of the index: which tensor is in which file. Files are in the folder itself, whatever the index says.
std::map<std::string, std::string> ReadIndex(const fs::path& path) {
  Json index;
  try {
    index = ParseJson<Json>(ReadText(path));
  } catch (const Error& error) {
    BadInput("{}: {}", path.string(), error.what());
  }
  const bool has_map = index.is_object() && index.contains("weight_map") && index["weight_map"].is_object();
  if (!has_map) BadInput("{}: weight_map is missing or no object", path.string());
  std::map<std::string, std::string> files;
  for (const auto& [tensor, file] : index["weight_map"].items()) {
    const std::string name = file.is_string() ? file.get<std::string>() : "";
    if (name.empty() || fs::path(name).filename() != name || name == "..") {
      BadInput("{}: weight_map: '{}' is in no file of this folder", path.string(), tensor);
    }
    files.emplace(tensor, name);
  }
  if (files.empty()) BadInput("{}: weight_map is empty", path.string());
  return files;
}

}  // namespace

TensorFile::TensorFile(fs::path path) : file_(std::move(path)), tensors_(ParseTensors(file_)) {}

HfShards::HfShards(const fs::path& folder) {
  const fs::path weights = FindWeights(folder);
  origin_ = weights.string();
  std::map<std::string, std::string> expected;
  std::set<std::string> names = {weights.filename().string()};
  if (weights.extension() == ".json") {
    expected = ReadIndex(weights);
    names.clear();
    for (const auto& [tensor, file] : expected) names.insert(file);
  }

  files_.reserve(names.size());  // tensors are pointed to
  for (const std::string& name : names) {
    const TensorFile& file = files_.emplace_back(folder / name);
    for (const StoredTensor& entry : file.tensors()) {
      const auto [it, is_new] = tensors_.emplace(entry.name, Tensor{&entry, &file});
      if (!is_new) {
        BadInput("{}: tensor '{}' is also in {}", file.path().string(), entry.name, it->second.file->path().string());
      }
    }
  }
  for (const auto& [tensor, file] : expected) {
    const auto it = tensors_.find(tensor);
    if (it == tensors_.end() || it->second.file->path().filename() != file) {
      BadInput("{}: weight_map: tensor '{}' is not in {}", origin_, tensor, file);
    }
  }
}

}  // namespace punt
