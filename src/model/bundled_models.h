// Models that come with the program, or that scripts/fetch-models made: GGUF files in one folder, each known by its
// stem.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace punt {

/// The folder: $PUNT_MODELS_DIR, or else what the running program finds, or the shared library that holds this code
/// (Python's module): ../share/punt/models if it is installed, models in the source tree if it was built there, models
/// beside the module. Empty when there is none.
std::filesystem::path BundledModelsFolder();

/// Where scripts/fetch-models puts models: $XDG_CACHE_HOME/punt/models, or ~/.cache/punt/models.
std::filesystem::path FetchedModelsFolder();

struct BundledModel {
  std::string name;
  std::filesystem::path file;
};

/// In the order of their names.
std::vector<BundledModel> BundledModels();

std::vector<BundledModel> FetchedModels();

/// The file of the bundled model of this name, or else, unless the current folder has a file of that name, of the
/// fetched one; of "hf:..." what the hub's cache holds (hub_cache.h; Error if it can be no name there); any other name
/// is taken for a path and returned as it is. A path that happens to be such a name can be written with a folder:
/// ./NAME.
std::filesystem::path LocateModel(std::string_view name);

}  // namespace punt
