// A Hugging Face folder as a source of weights, to which other layers can add keys.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "weights/hf_config.h"
#include "weights/weight_source.h"

namespace punt {

/// As OpenHfFolder(folder) of weight_source.h; `add_keys` may add to the metadata before it becomes immutable.
std::unique_ptr<WeightSource> OpenHfFolder(const std::filesystem::path& folder,
                                           const std::function<void(Metadata&)>& add_keys);

/// config.json of the folder. Throws Error naming the path.
HfConfig ReadHfConfig(const std::filesystem::path& folder);

/// A whole text file; throws Error naming it when it cannot be read.
std::string ReadText(const std::filesystem::path& file);

}  // namespace punt
