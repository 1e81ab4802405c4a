#include "report/record_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/check.h"
#include "base/json_text.h"
#include "base/parse_json.h"
#include "base/setting_error.h"
#include "report/data_file.h"

namespace punt {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

std::string ConfigurationText(const Configuration& configuration) {
  Json object = Json::object();
  for (const auto& [name, value] : configuration) object[name] = value;
  return Dump(object, 2) + "\n";
}

/// `path` is for errors.
Configuration ParseConfiguration(std::string_view text, const fs::path& path) {
  const Json object = Json::parse(text, IsShallow<Json>, false);
  if (!object.is_object()) BadInput("'{}' is not a configuration", path.string());
  Configuration configuration;
  for (const auto& [name, value] : object.items()) {
    if (value.is_string()) configuration.emplace_back(name, value.get<std::string>());
    if (value.is_number()) configuration.emplace_back(name, Dump(value));
  }
  return configuration;
}

/// "seed is 1 there and 2 here"; empty when nothing differs.
std::string Differences(const Configuration& there, const Configuration& here) {
  std::vector<std::string> lines;
  const auto compare = [&](const std::string& name) {
    const std::string a = ValueIn(there, name).value_or("nothing"), b = ValueIn(here, name).value_or("nothing");
    if (a != b) lines.push_back(fmt::format("{} is {} there and {} here", name, a, b));
  };
  for (const auto& [name, unused] : here) compare(name);
  for (const auto& [name, unused] : there) {
    if (!ValueIn(here, name)) compare(name);
  }
  return fmt::format("{}", fmt::join(lines, "; "));
}

}  // namespace

Configuration ReadConfiguration(const fs::path& folder) {
  const fs::path path = folder / "config.json";
  return ParseConfiguration(ReadDataFile(path.string()), path);
}

std::optional<std::string> ValueIn(const Configuration& configuration, std::string_view name) {
  for (const auto& [key, value] : configuration) {
    if (key == name) return value;
  }
  return std::nullopt;
}

RecordFolder::RecordFolder(fs::path folder, const Configuration& configuration, std::string what,
                           const std::function<void(std::string_view line)>& take)
    : folder_(std::move(folder)), what_(std::move(what)) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) BadInput("cannot make the folder '{}': {}", folder_.string(), error.message());
  Lock();
  try {
    const fs::path config = folder_ / "config.json";
    if (fs::exists(config)) {
      // Ours as it would be read back: bytes that are not UTF-8 are replaced in a file.
      const Configuration here = ParseConfiguration(ConfigurationText(configuration), config);
      const std::string differences = Differences(ReadConfiguration(folder_), here);
      if (!differences.empty()) {
        BadSetting("out", "'{}' holds another {}: {}; give another folder", folder_.string(), what_, differences);
      }
      TakeOver(take);
    } else if (fs::exists(folder_ / "items.jsonl")) {
      BadSetting("out", "'{}' holds items.jsonl without config.json; give another folder", folder_.string());
    } else {
      WriteFileAtomically(config, ConfigurationText(configuration));
    }
  } catch (...) {
    close(lock_);
    throw;
  }
}

RecordFolder::~RecordFolder() { close(lock_); }

void RecordFolder::Lock() {
  lock_ = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ >= 0 && flock(lock_, LOCK_EX | LOCK_NB) == 0) return;
  if (lock_ >= 0) close(lock_);
  BadInput("'{}' is in use by another {}", folder_.string(), what_);
}

void RecordFolder::TakeOver(const std::function<void(std::string_view line)>& take) {
  const fs::path path = folder_ / "items.jsonl";
  if (!fs::exists(path)) return;
  const std::string text = ReadDataFile(path.string());
  const std::size_t whole = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
  int number = 0;
  for (std::string_view line : SplitLines(std::string_view(text).substr(0, whole))) {
    ++number;
    try {
      take(line);
    } catch (const Error& error) {
      BadInput("{}:{}: {}", path.string(), number, error.what());
    }
  }
  if (whole < text.size()) fs::resize_file(path, whole);
}

void RecordFolder::StartOver() { WriteFileAtomically(folder_ / "items.jsonl", ""); }

void RecordFolder::Add(std::string_view line) { AppendLine(folder_ / "items.jsonl", line); }

void RecordFolder::Write(const std::string& name, std::string_view text) const {
  WriteFileAtomically(folder_ / name, text);
}

}  // namespace punt
