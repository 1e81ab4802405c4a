// A folder of records, each kept as soon as it is made, so that an interrupted run can continue where it stopped.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace punt {

/// Everything that decides the records, by name. Values are shown in errors.
using Configuration = std::vector<std::pair<std::string, std::string>>;

/// What DIR/config.json of such a folder says; numbers are given as they are written there, lists and objects are left
/// out. Throws Error naming the file.
Configuration ReadConfiguration(const std::filesystem::path& folder);

/// The value of a name, if there is one.
std::optional<std::string> ValueIn(const Configuration& configuration, std::string_view name);

/// DIR/config.json and DIR/items.jsonl, one record per line in the order in which they were finished. Used by one
/// thread; the folder is locked while this object lives. Failures throw Error naming the file.
class RecordFolder {
 public:
  /// Makes the folder if need be. If it has an equal configuration, `take` is given every line of earlier runs (it
  /// throws Error on one that is not a record); a last line that was cut off is dropped. Another configuration throws
  /// Error naming the differences, and so does another process at work there; the folder is left as it was. `what`
  /// says in errors what the folder holds: "evaluation".
  RecordFolder(std::filesystem::path folder, const Configuration& configuration, std::string what,
               const std::function<void(std::string_view line)>& take);
  ~RecordFolder();
  RecordFolder(const RecordFolder&) = delete;
  RecordFolder& operator=(const RecordFolder&) = delete;

  /// Drops all records.
  void StartOver();

  /// Appends a line and flushes it.
  void Add(std::string_view line);

  /// Replaces a file of the folder in one step.
  void Write(const std::string& name, std::string_view text) const;

 private:
  void Lock();
  void TakeOver(const std::function<void(std::string_view line)>& take);

  std::filesystem::path folder_;
  std::string what_;
  int lock_ = -1;
};

}  // namespace punt
