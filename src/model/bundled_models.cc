#include "model/bundled_models.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>

#include "model/hub_cache.h"

namespace punt {

namespace fs = std::filesystem;

namespace {

/// The file that holds this code: the program, or a shared library that another program has loaded.
fs::path OwnFile() {
  std::error_code error;
  Dl_info own = {};
  const bool is_known = dladdr(reinterpret_cast<const void*>(&BundledModelsFolder), &own) != 0 && own.dli_fname;
  const fs::path file = is_known ? fs::path(own.dli_fname) : fs::path();
  if (file.filename().string().find(".so") != std::string::npos) return fs::canonical(file, error);
  return fs::read_symlink("/proc/self/exe", error);
}

}  // namespace

fs::path BundledModelsFolder() {
  if (const char* folder = std::getenv("PUNT_MODELS_DIR")) return folder;
  const fs::path own = OwnFile();
  if (own.empty()) return {};
  for (const char* relative : {"../share/punt/models", "../../models", "models"}) {
    const fs::path folder = (own.parent_path() / relative).lexically_normal();
    std::error_code missing;  // of one folder says nothing about the next
    if (fs::is_directory(folder, missing)) return folder;
  }
  return {};
}

fs::path FetchedModelsFolder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') {
    return fs::path(cache) / "punt/models";
  }
  const char* home = std::getenv("HOME");
  return home == nullptr ? fs::path() : fs::path(home) / ".cache/punt/models";
}

namespace {

std::vector<BundledModel> ModelsIn(const fs::path& folder) {
  std::vector<BundledModel> models;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".gguf" || entry.path().stem().extension() == ".influence") continue;  // no model
    models.push_back({entry.path().stem().string(), entry.path()});
  }
  std::sort(models.begin(), models.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return models;
}

}  // namespace

std::vector<BundledModel> BundledModels() { return ModelsIn(BundledModelsFolder()); }

std::vector<BundledModel> FetchedModels() { return ModelsIn(FetchedModelsFolder()); }

fs::path LocateModel(std::string_view name) {
  if (IsHubName(name)) return FindInHubCache(ParseHubName(name)).value_or(fs::path(name));
  if (name.find('/') != std::string_view::npos) return fs::path(name);
  for (const BundledModel& model : BundledModels()) {
    if (model.name == name) return model.file;
  }
  std::error_code error;
  if (!fs::exists(fs::path(name), error)) {  // a file here takes precedence over one that was fetched
    for (const BundledModel& model : FetchedModels()) {
      if (model.name == name) return model.file;
    }
  }
  return fs::path(name);
}

}  // namespace punt
