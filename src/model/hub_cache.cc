// Of GGUF files one is taken: that of the type that was asked for, or else the only one, or the first of the usual
// types. A type is the last part of a file's name ("model-Q8_0.gguf"), or the folder it is in. Without GGUF files the
// folder is the model: its configuration, its tokenizer and the first of the forms of weights that hf_shards.h knows.
#include "model/hub_cache.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/parse_json.h"
#include "base/trim.h"
#include "weights/hf_folder.h"

namespace punt {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "hf:";
constexpr std::size_t kLongestName = 96;
constexpr std::size_t kMostListed = 12;
// Without a type: what most people take first.
constexpr const char* kUsualTypes[] = {"q4_k_m", "q8_0", "f16", "bf16", "f32"};
constexpr const char* kSmallFiles[] = {"config.json",
                                       "generation_config.json",
                                       "adapter_config.json",
                                       "tokenizer.json",
                                       "tokenizer_config.json",
                                       "special_tokens_map.json",
                                       "added_tokens.json",
                                       "vocab.txt",
                                       "vocab.json",
                                       "merges.txt",
                                       "chat_template.jinja"};

/// A form of weights: an index and the files it lists, or a file.
struct WeightForm {
  const char* index;
  const char* begin;
  const char* end;
};

constexpr WeightForm kWeightForms[] = {{"model.safetensors.index.json", "model", ".safetensors"},
                                       {"", "model.safetensors", ""},
                                       {"pytorch_model.bin.index.json", "pytorch_model", ".bin"},
                                       {"", "pytorch_model.bin", ""},
                                       {"", "model.pt", ""},
                                       {"", "model.pth", ""},
                                       {"", "adapter_model.safetensors", ""},
                                       {"", "adapter_model.bin", ""}};

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

bool IsNamePart(std::string_view part) {
  return !part.empty() && part.size() <= kLongestName && part.front() != '.' && part.front() != '-' &&
         part.find("..") == part.npos && part.find("--") == part.npos &&
         std::all_of(part.begin(), part.end(), IsNameCharacter);
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool Contains(std::span<const std::string> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// A GGUF file, or one in parts.
struct GgufGroup {
  std::string stem;                // without "-00001-of-00003.gguf"
  std::vector<std::string> parts;  // in order
  std::size_t count = 1;
};

bool AreDigits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<GgufGroup> GgufGroups(std::span<const std::string> names) {
  constexpr std::size_t kTail = 15;  // "-00001-of-00003"
  std::map<std::string, GgufGroup> groups;
  for (const std::string& name : names) {
    const std::string lower = Lower(name);
    if (!lower.ends_with(".gguf") || lower.ends_with(".influence.gguf") || lower.find("mmproj") != lower.npos) continue;
    std::string stem = name.substr(0, name.size() - 5);
    std::size_t count = 1;
    const std::string tail = stem.size() > kTail ? stem.substr(stem.size() - kTail) : "";
    if (!tail.empty() && tail[0] == '-' && tail.substr(6, 4) == "-of-" && AreDigits(tail.substr(1, 5)) &&
        AreDigits(tail.substr(10))) {
      stem.erase(stem.size() - kTail);
      count = std::stoul(tail.substr(10));
    }
    GgufGroup& group = groups[stem];
    group.stem = stem;
    group.count = count;
    group.parts.push_back(name);
  }
  std::vector<GgufGroup> whole;
  for (auto& [stem, group] : groups) {
    std::sort(group.parts.begin(), group.parts.end());
    if (group.parts.size() == group.count) whole.push_back(std::move(group));
  }
  return whole;
}

bool IsOfType(const GgufGroup& group, std::string_view type) {
  const std::string stem = Lower(group.stem);
  const std::string wanted = Lower(type);
  if (Contains(group.parts, type)) return true;
  if (Lower(fs::path(group.stem).parent_path().filename().string()) == wanted) return true;
  if (!stem.ends_with(wanted)) return false;
  return stem.size() == wanted.size() ||
         std::string_view("-._/").find(stem[stem.size() - wanted.size() - 1]) != std::string_view::npos;
}

std::string ListOf(const std::vector<GgufGroup>& groups) {
  std::vector<std::string> names;
  for (const GgufGroup& group : groups) names.push_back(group.parts.front());
  const bool is_cut = names.size() > kMostListed;
  names.resize(std::min(names.size(), kMostListed));
  return fmt::format("{}{}", fmt::join(names, ", "), is_cut ? ", ..." : "");
}

const GgufGroup& ChooseGroup(const std::vector<GgufGroup>& groups, const HubName& name) {
  const auto fitting = [&](std::string_view type) {
    std::vector<const GgufGroup*> found;
    for (const GgufGroup& group : groups) {
      if (IsOfType(group, type)) found.push_back(&group);
    }
    return found;
  };
  if (!name.type.empty()) {
    const std::vector<const GgufGroup*> found = fitting(name.type);
    if (found.size() == 1) return *found.front();
    BadInput("{} has {} '{}'; there are: {}", name.repo, found.empty() ? "no GGUF file of type" : "several files for",
             name.type, ListOf(groups));
  }
  if (groups.size() == 1) return groups.front();
  for (const char* type : kUsualTypes) {
    const std::vector<const GgufGroup*> found = fitting(type);
    if (found.size() == 1) return *found.front();
  }
  BadInput("{} has several GGUF files: put a type or a name behind it, with a colon: {}", name.repo, ListOf(groups));
}

bool IsOfForm(const WeightForm& form, const std::string& name) {
  if (*form.end == '\0') return name == form.begin;
  return name.starts_with(form.begin) && name.ends_with(form.end) && name.find('/') == name.npos &&
         name.size() > std::string_view(form.begin).size() + std::string_view(form.end).size();
}

HubChoice ChooseFolder(std::span<const std::string> names, const HubName& name) {
  HubChoice choice;
  for (const char* small : kSmallFiles) {
    if (Contains(names, small)) choice.files.emplace_back(small);
  }
  if (!Contains(names, "config.json") && !Contains(names, "adapter_config.json")) {
    BadInput("{} holds no model: neither GGUF files nor a config.json", name.repo);
  }
  for (const WeightForm& form : kWeightForms) {
    const bool has_index = *form.index != '\0';
    if (has_index && !Contains(names, form.index)) continue;
    std::vector<std::string> weights;
    std::copy_if(names.begin(), names.end(), std::back_inserter(weights),
                 [&](const std::string& file) { return IsOfForm(form, file); });
    if (weights.empty()) continue;
    if (has_index) choice.files.emplace_back(form.index);
    std::sort(weights.begin(), weights.end());
    choice.files.insert(choice.files.end(), weights.begin(), weights.end());
    return choice;
  }
  BadInput("{} holds no weights that are read: no GGUF files, safetensors or checkpoints of PyTorch", name.repo);
}

/// Whether the files that the folder's index lists are there.
bool IsWhole(const fs::path& folder, const HubChoice& choice) {
  for (const std::string& file : choice.files) {
    if (!file.ends_with(".index.json")) continue;
    const auto index = nlohmann::json::parse(ReadText(folder / file), IsShallow<nlohmann::json>, false);
    if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object()) return false;
    for (const auto& [tensor, shard] : index["weight_map"].items()) {
      if (!shard.is_string() || !Contains(choice.files, shard.get<std::string>())) return false;
    }
  }
  return true;
}

std::vector<std::string> FilesBelow(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder, error)) {
    std::error_code ignored;
    if (entry.is_regular_file(ignored)) names.push_back(entry.path().lexically_relative(folder).string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool IsCommit(std::string_view text) {
  return text.size() == 40 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

}  // namespace

std::string HubName::text() const {
  return fmt::format("{}{}{}{}{}{}", kPrefix, repo, revision == "main" ? "" : "@", revision == "main" ? "" : revision,
                     type.empty() ? "" : ":", type);
}

bool IsHubName(std::string_view name) { return name.starts_with(kPrefix); }

HubName ParseHubName(std::string_view text) {
  std::string_view rest = IsHubName(text) ? text.substr(kPrefix.size()) : text;
  HubName name;
  const auto refuse = [&](std::string_view why) {
    BadInput("'{}' is no name of the hub: {}; it is user/repo, user/repo:TYPE or user/repo@REVISION", text, why);
  };
  if (const auto colon = rest.find(':'); colon != rest.npos) {
    name.type = rest.substr(colon + 1);
    rest = rest.substr(0, colon);
    if (name.type.empty()) refuse("the type is empty");
    RequireInside(name.type);
  }
  if (const auto at = rest.find('@'); at != rest.npos) {
    name.revision = rest.substr(at + 1);
    rest = rest.substr(0, at);
    if (!IsNamePart(name.revision)) refuse("the revision");
  }
  const auto slash = rest.find('/');
  const bool is_good =
      slash == rest.npos ? IsNamePart(rest) : IsNamePart(rest.substr(0, slash)) && IsNamePart(rest.substr(slash + 1));
  if (!is_good) refuse("letters, digits, '-', '_' and '.' are allowed");
  name.repo = rest;
  return name;
}

void RequireInside(std::string_view path) {
  std::string_view rest = path;
  for (bool goes_on = true; goes_on;) {
    const auto slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    const bool is_bad = part.empty() || part == "." || part == ".." || part.size() > 255 ||
                        std::any_of(part.begin(), part.end(), [](char c) {
                          return static_cast<unsigned char>(c) < 0x20 || c == '\\' || c == 0x7f;
                        });
    if (is_bad) BadInput("'{}' is refused as the name of a file", path);
    goes_on = slash != rest.npos;
    if (goes_on) rest.remove_prefix(slash + 1);
  }
}

fs::path HubHome() {
  if (const std::string home = Variable("HF_HOME"); !home.empty()) return home;
  if (const std::string cache = Variable("XDG_CACHE_HOME"); !cache.empty()) return fs::path(cache) / "huggingface";
  if (const std::string home = Variable("HOME"); !home.empty()) return fs::path(home) / ".cache/huggingface";
  BadInput("there is no folder for models of the hub: none of HF_HOME, XDG_CACHE_HOME and HOME is set");
}

fs::path HubCacheFolder() {
  if (const std::string folder = Variable("HF_HUB_CACHE"); !folder.empty()) return folder;
  return HubHome() / "hub";
}

fs::path HubRepoFolder(const HubName& name) {
  std::string folder = "models--" + name.repo;
  if (const auto slash = folder.find('/'); slash != folder.npos) folder.replace(slash, 1, "--");
  return HubCacheFolder() / folder;
}

HubChoice ChooseHubFiles(std::span<const std::string> names, const HubName& name) {
  const std::vector<GgufGroup> groups = GgufGroups(names);
  const bool wants_folder = name.type == "safetensors";
  if (groups.empty() && !name.type.empty() && !wants_folder) {
    BadInput("{} has no GGUF files, so none of type '{}'; without a type its folder is the model", name.repo,
             name.type);
  }
  if (groups.empty() || wants_folder) return ChooseFolder(names, name);
  const GgufGroup& group = ChooseGroup(groups, name);
  return {.files = group.parts, .main = group.parts.front()};
}

std::optional<fs::path> FindInHubCache(const HubName& name) {
  const fs::path repo = HubRepoFolder(name);
  std::string commit = name.revision;
  if (!IsCommit(commit)) {
    std::ifstream in(repo / "refs" / name.revision);
    std::getline(in, commit);
    commit = Trim(commit);
  }
  if (!IsCommit(commit)) return std::nullopt;
  const fs::path folder = repo / "snapshots" / commit;
  const std::vector<std::string> names = FilesBelow(folder);
  try {
    const HubChoice choice = ChooseHubFiles(names, name);
    if (!choice.main.empty()) return folder / choice.main;
    if (IsWhole(folder, choice)) return folder;
  } catch (const Error&) {  // what is there is no model, or not the one
  }
  return std::nullopt;
}

}  // namespace punt
