// The records of an evaluation in a folder, each kept when it is finished, so that an interrupted run can continue.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "eval/task.h"
#include "report/record_folder.h"

namespace punt {

/// The record as it can be read back: bytes that are not UTF-8 are replaced, once and for all.
std::string RecordLine(const EvalRecord& record);
/// Throws Error (without naming a file) on a line that is not a record.
EvalRecord ParseRecord(std::string_view line);

/// The records of an evaluation in a RecordFolder.
class EvalLog {
 public:
  EvalLog(std::filesystem::path folder, const Configuration& configuration);

  /// Records of earlier runs, by id.
  const std::map<std::string, EvalRecord>& resumed() const { return resumed_; }

  /// Appends a line (RecordLine) and flushes it.
  void Add(std::string_view line) { folder_.Add(line); }

  /// Replaces DIR/summary.json in one step.
  void WriteSummary(std::string_view text) const { folder_.Write("summary.json", text); }

 private:
  std::map<std::string, EvalRecord> resumed_;
  RecordFolder folder_;
};

}  // namespace punt
