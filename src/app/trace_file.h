// A trace file that appears when it is complete, and not before.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "punt/trace.h"

namespace punt {

/// Writes to FILE.partial and renames it at the end; without Finish the partial file is removed. A target
/// that is not a regular file (a pipe, /dev/stdout) is written directly.
class TraceFile : public Observer {
 public:
  /// Throws Error (bad input) when the file cannot be made.
  explicit TraceFile(const std::string& path);
  ~TraceFile() override;
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  void On(const TraceEvent& event) override;

  /// Throws Error (failed) when the file cannot be put in place.
  void Finish();

 private:
  [[noreturn]] void FailToWrite(int reason) const;  // errno, 0: unknown

  std::string name_;
  std::filesystem::path target_;
  std::filesystem::path partial_;  // empty: writing directly
  std::ofstream out_;
  TraceWriter writer_;
  bool is_finished_ = false;
};

/// All events of a file; - is the standard input. Throws Error naming it.
std::vector<TraceEvent> ReadTraceFile(const std::string& name);

}  // namespace punt
