// Where `punt score` writes.
#pragma once

#include <filesystem>
#include <string>

namespace punt {

/// Where records are written: DIR/items.jsonl, with DIR/summary.json at the end, or only FILE.jsonl. A folder with
/// other records is refused; one of the same scoring is started over. Throws Error.
class ScoreFiles {
 public:
  ScoreFiles(const std::string& out, const std::string& configuration);

  void Add(const std::string& line) const;
  void Finish(const std::string& summary) const;

 private:
  void ClaimFolder(const std::string& configuration) const;

  bool is_file_;
  std::filesystem::path folder_;
  std::filesystem::path items_;
};

/// Throws Error when `out` is the file `input`.
void CheckNotOverwritten(const std::string& out, const std::string& input);

}  // namespace punt
