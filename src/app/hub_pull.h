// Fetches models of the hub into its cache (model/hub_cache.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "app/hub_client.h"
#include "model/hub_cache.h"

namespace punt {

struct PulledFile {
  HubFile file;
  bool was_there = false;  // in the cache
};

struct PullResult {
  std::string commit;
  std::filesystem::path path;  // what to open: a GGUF file or a folder
  std::vector<PulledFile> files;
  std::int64_t fetched = 0;  // bytes

  std::int64_t bytes() const;
};

/// What PullModel would fetch, without doing it.
PullResult PlanPull(const HubName& name);

/// Asks the hub what the name stands for now, and fetches what the cache lacks. Progress goes to the standard error.
/// Several processes may do so at once: each file is fetched by one of them, the others wait. A file appears under its
/// hash when its size and hash are right; what is fetched of it so far is in HASH.incomplete, where a later call goes
/// on. Throws Error as HubClient does, and Interrupted.
PullResult PullModel(const HubName& name);

/// Fetches the model and the adapters (of --lora) that are the hub's and not in the cache; what is there is used
/// without asking the hub.
void PullIfMissing(const std::string& model, std::span<const std::string> adapters = {});

}  // namespace punt
