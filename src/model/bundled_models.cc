#include "model/bundled_models.h"

#include <algorithm>
#include <cstdlib>

namespace punt {

namespace fs = std::filesystem;

fs::path BundledModelsFolder() {
  if (const char* folder = std::getenv("PUNT_MODELS_DIR")) return folder;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  for (const char* relative : {"../share/punt/models", "../../models"}) {
    const fs::path folder = (program.parent_path() / relative).lexically_normal();
    std::error_code missing;  // of one folder says nothing about the next
    if (fs::is_directory(folder, missing)) return folder;
  }
  return {};
}

std::vector<BundledModel> BundledModels() {
  std::vector<BundledModel> models;
  const fs::path folder = BundledModelsFolder();
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".gguf" || entry.path().stem().extension() == ".influence") continue;  // no model
    models.push_back({entry.path().stem().string(), entry.path()});
  }
  std::sort(models.begin(), models.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return models;
}

fs::path LocateModel(std::string_view name) {
  if (name.find('/') == std::string_view::npos) {
    for (const BundledModel& model : BundledModels()) {
      if (model.name == name) return model.file;
    }
  }
  return fs::path(name);
}

}  // namespace punt
