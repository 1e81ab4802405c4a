// A child process with limits on everything it may use up. What the child may see or touch is sandbox.h's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace punt {

struct ProcessLimits {
  double seconds = 3;         // of wall clock; from the first byte of the report on, unless start_seconds is 0
  double start_seconds = 20;  // until that byte: an interpreter starts slowly on a busy machine
  std::int64_t memory_bytes = std::int64_t{512} << 20;  // address space of each process
  std::int64_t file_bytes = std::int64_t{16} << 20;     // each file written
  int open_files = 64;
  int processes = 16;                    // threads count as well; enforced only by sandbox.h
  std::size_t output_bytes = 64 * 1024;  // kept of the output, and of the report; the rest is read and dropped
};

struct ProcessCommand {
  std::vector<std::string> arguments;  // the program's absolute path first
  std::string input;                   // its standard input
  ProcessLimits limits;
};

enum class ProcessEnd { kExited, kSignalled, kOutOfTime };

struct ProcessResult {
  ProcessEnd end = ProcessEnd::kExited;
  int status = 0;      // exit status, or the signal; 127 if the program could not be started
  std::string output;  // standard output and error, interleaved
  bool is_cut = false;
  std::string report;  // what was written to descriptor kReportDescriptor
};

inline constexpr int kReportDescriptor = 3;

/// Runs the program in "/", with an empty environment, no descriptors but 0 to 3, in its own session, which is
/// killed as a whole when the program ends, its time is up or the caller dies. Without privileges: root becomes user
/// nobody, and programs with set-user-id gain nothing. May be called from many threads. Throws Error (failed) when the
/// machine gives no further process or descriptor.
ProcessResult RunLimited(const ProcessCommand& command);

}  // namespace punt
