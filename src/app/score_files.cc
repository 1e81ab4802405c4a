#include "app/score_files.h"

#include "base/atomic_file.h"
#include "base/check.h"
#include "report/data_file.h"

namespace punt {

namespace fs = std::filesystem;

ScoreFiles::ScoreFiles(const std::string& out, const std::string& configuration)
    : is_file_(out.ends_with(".jsonl")),
      folder_(is_file_ ? "" : out),
      items_(is_file_ ? fs::path(out) : folder_ / "items.jsonl") {
  if (!is_file_) ClaimFolder(configuration);
  WriteFileAtomically(items_, "");
}

void ScoreFiles::Add(const std::string& line) const { AppendLine(items_, line); }

void ScoreFiles::Finish(const std::string& summary) const {
  if (!is_file_) WriteFileAtomically(folder_ / "summary.json", summary);
}

void ScoreFiles::ClaimFolder(const std::string& configuration) const {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) BadInput("cannot make the folder '{}': {}", folder_.string(), error.message());
  const fs::path config = folder_ / "config.json";
  const bool is_known = fs::exists(config) && ReadDataFile(config.string()) == configuration;
  if (!is_known && (fs::exists(config) || fs::exists(items_))) {
    BadInput("'{}' holds another evaluation; give another --out", folder_.string());
  }
  WriteFileAtomically(config, configuration);
}

void CheckNotOverwritten(const std::string& out, const std::string& input) {
  std::error_code error;
  if (!out.empty() && fs::equivalent(out, input, error)) BadInput("--out would overwrite '{}'", input);
}

}  // namespace punt
