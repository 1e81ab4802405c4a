// A trace file that appears when it is complete, and not before.
#pragma once

#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "punt/trace.h"

namespace punt {

/// An AtomicFile of events: each is in FILE.partial-... as soon as it happened, so a program that is killed leaves what
/// it came to. A target that is no regular file (a pipe, /dev/stdout) is written directly.
class TraceFile : public Observer {
 public:
  /// Throws Error (bad input) when the file cannot be made.
  explicit TraceFile(const std::string& path);

  void On(const TraceEvent& event) override;

  /// Throws Error (failed) when the file cannot be put in place.
  void Finish() { file_.Commit(); }

 private:
  AtomicFile file_;
};

/// All events of a file; - is the standard input. Throws Error naming it.
std::vector<TraceEvent> ReadTraceFile(const std::string& name);

}  // namespace punt
