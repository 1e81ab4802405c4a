#include "app/score_files.h"

#include "base/atomic_file.h"
#include "base/check.h"

namespace punt {

namespace fs = std::filesystem;

ScoreFiles::ScoreFiles(const std::string& out, const Configuration& configuration) {
  if (out.ends_with(".jsonl")) {
    file_ = out;
    WriteFileAtomically(file_, "");
  } else {
    folder_.emplace(out, configuration, "evaluation", [](std::string_view) {});
    folder_->StartOver();
  }
}

void ScoreFiles::Add(const std::string& line) {
  if (folder_) {
    folder_->Add(line);
  } else {
    AppendLine(file_, line);
  }
}

void ScoreFiles::Finish(const std::string& summary) const {
  if (folder_) folder_->Write("summary.json", summary);
}

void CheckNotOverwritten(const std::string& out, const std::string& input) {
  std::error_code error;
  if (!out.empty() && fs::equivalent(out, input, error)) BadInput("--out would overwrite '{}'", input);
}

}  // namespace punt
