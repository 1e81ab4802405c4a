// Runs Python programs that end with their own checks, and reports the outcome.
#pragma once

#include <string>

#include "tasks/code/sandbox.h"

namespace punt {

struct PythonOutcome {
  bool passed = false;
  std::string reason;  // passed | failed: EXCEPTION | timed out | out of memory | killed: signal N
};

/// Immutable; may be used by many threads. Every program gets its own interpreter and sandbox.
class PythonRunner {
 public:
  struct Options {
    bool sandboxed = true;
    ProcessLimits limits;
  };

  /// Throws Error (bad input) if there is no Python, or no sandbox although one is asked for.
  explicit PythonRunner(const Options& options);

  /// Passed: the program, with the checks at its end, was executed to its last line without an exception. A program
  /// that exits early has not passed, whatever its status. Throws Error (failed) only when no process can be started.
  PythonOutcome Run(const std::string& program) const;

 private:
  Options options_;
};

}  // namespace punt
