// Models that OpenModel knows by a name alone.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace punt {

struct NamedModel {
  std::string name;
  std::string summary;
  std::filesystem::path file;
};

/// Those that come with the program or library and fill masks, then those that scripts/fetch-models made, which are not
/// opened for it. Throws Error when a bundled one is broken.
std::vector<NamedModel> NamedModels();

}  // namespace punt
