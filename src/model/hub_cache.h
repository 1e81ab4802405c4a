// Models that are called by their names on the Hugging Face hub, "hf:user/repo", and where they are on this machine:
// the hub's own cache, in the layout of its Python library, so that both use what either has fetched. Nothing here uses
// a network: the program fetches (app/hub_pull.h).
//
//   FOLDER/models--user--repo/refs/main                 the commit that the branch was at
//   FOLDER/models--user--repo/snapshots/COMMIT/NAME     a link to
//   FOLDER/models--user--repo/blobs/HASH                a file, called by its SHA-256 (large files) or git's hash
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace punt {

/// "hf:user/repo", "hf:user/repo:q8_0" (of GGUF files, the one of this type or name), "hf:user/repo@REVISION".
struct HubName {
  std::string repo;
  std::string revision = "main";
  std::string type;  // empty: the usual one; "safetensors": the folder, though there are GGUF files

  std::string text() const;
};

/// Whether a model is meant to be of the hub: "hf:...".
bool IsHubName(std::string_view name);

/// With "hf:" in front or not. Throws Error on what can be no name there.
HubName ParseHubName(std::string_view text);

/// $HF_HUB_CACHE, $HF_HOME/hub, $XDG_CACHE_HOME/huggingface/hub or ~/.cache/huggingface/hub. Throws Error when none of
/// them is set.
std::filesystem::path HubCacheFolder();
/// Where the hub's settings and its token are: $HF_HOME, or huggingface in the cache folder of the user.
std::filesystem::path HubHome();
std::filesystem::path HubRepoFolder(const HubName& name);

/// Throws Error unless it is a path that stays below the folder it is put into: names of files come from a server.
void RequireInside(std::string_view path);

/// Which files of a repository are the model.
struct HubChoice {
  std::vector<std::string> files;  // weights last
  std::string main;                // of these, the one to open; empty: the folder
};

/// Throws Error that lists what there is when nothing is a model, or several files could be meant.
HubChoice ChooseHubFiles(std::span<const std::string> names, const HubName& name);

/// What LocateModel is to return: a GGUF file or a folder. Nothing when it is not in the cache, or not whole.
std::optional<std::filesystem::path> FindInHubCache(const HubName& name);

}  // namespace punt
