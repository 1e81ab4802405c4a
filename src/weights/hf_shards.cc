#include "weights/hf_shards.h"

#include <nlohmann/json.hpp>
#include <set>

#include "base/check.h"
#include "weights/hf_folder.h"

namespace punt {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// weight_map of the index: which tensor is in which file. Files lie in the folder itself, whatever the index says.
std::map<std::string, std::string> ReadIndex(const fs::path& path) {
  Json index;
  try {
    index = Json::parse(ReadText(path));
  } catch (const Json::exception& error) {
    BadInput("{}: no JSON: {}", path.string(), error.what());
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

HfShards::HfShards(const fs::path& folder) {
  const fs::path index = folder / "model.safetensors.index.json";
  const fs::path single = folder / "model.safetensors";
  std::map<std::string, std::string> expected;
  std::set<std::string> names;
  if (fs::exists(index)) {
    expected = ReadIndex(index);
    for (const auto& [tensor, file] : expected) names.insert(file);
    origin_ = index.string();
  } else if (fs::exists(single)) {
    names = {"model.safetensors"};
    origin_ = single.string();
  } else {
    BadInput("{}: neither model.safetensors nor model.safetensors.index.json is there", folder.string());
  }

  files_.reserve(names.size());  // entries are pointed to
  for (const std::string& name : names) {
    const SafetensorsFile& file = files_.emplace_back(folder / name);
    for (const SafetensorsEntry& entry : file.entries()) {
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
