// Where `punt score` writes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "report/record_folder.h"

namespace punt {

/// Where records go as they come: a RecordFolder DIR, with DIR/summary.json at the end, or FILE.jsonl alone. A scoring
/// is quickly done: what there is of the same is started over. Throws Error.
class ScoreFiles {
 public:
  ScoreFiles(const std::string& out, const Configuration& configuration);

  void Add(const std::string& line);
  void Finish(const std::string& summary) const;

 private:
  std::optional<RecordFolder> folder_;
  std::filesystem::path file_;  // where there is no folder
};

/// Throws Error when `out` is the file `input`.
void CheckNotOverwritten(const std::string& out, const std::string& input);

}  // namespace punt
