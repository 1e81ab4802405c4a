// The records of an evaluation in a folder, kept as they come, so that an interrupted run goes on where it stopped.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "eval/task.h"

namespace punt {

/// Everything that decides an evaluation's result, by name. Values are shown in errors.
using Configuration = std::vector<std::pair<std::string, std::string>>;

/// The record as it can be read back: bytes that are no UTF-8 are replaced, once and for all.
std::string RecordLine(const EvalRecord& record);
/// Throws Error (without naming a file) on a line that is no record.
EvalRecord ParseRecord(std::string_view line);

/// DIR/config.json and DIR/items.jsonl, a record a line in the order in which they were finished. Used by one thread;
/// the folder is locked while it lives. Trouble throws Error naming the file.
class EvalLog {
 public:
  /// Makes the folder if need be. Takes over the records of an equal configuration; a last line that was cut off is
  /// dropped. Another configuration throws Error naming the differences, another process at work there throws as well;
  /// the folder is left as it was.
  EvalLog(std::filesystem::path folder, const Configuration& configuration);
  ~EvalLog();
  EvalLog(const EvalLog&) = delete;
  EvalLog& operator=(const EvalLog&) = delete;

  /// Records taken over from earlier runs, by id.
  const std::map<std::string, EvalRecord>& resumed() const { return resumed_; }

  /// Appends a line (RecordLine) and flushes it.
  void Add(std::string_view line);

  /// Replaces DIR/summary.json in one step.
  void WriteSummary(std::string_view text) const;

 private:
  void Lock();
  void TakeOver();

  std::filesystem::path folder_;
  int lock_ = -1;
  std::map<std::string, EvalRecord> resumed_;
};

}  // namespace punt
