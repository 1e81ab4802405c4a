#include "tasks/code/program_judge.h"

#include "eval/task.h"

namespace punt {

PythonRunner::Options RunnerOptions(const ProgramOptions& options, double default_seconds) {
  PythonRunner::Options runner{.sandboxed = options.sandboxed};
  runner.limits.seconds = options.seconds.value_or(default_seconds);
  return runner;
}

ScoreVerdict JudgeProgram(const PythonRunner& runner, const ProgramReadings& readings) {
  const PythonOutcome literal = runner.Run(readings.literal);
  const bool is_same = readings.found == readings.literal;
  const PythonOutcome found = is_same ? literal : runner.Run(readings.found);
  return {.extracted = readings.extracted,
          .values = {{kCorrect, literal.passed ? 1 : 0}, {"extracted_pass", found.passed ? 1 : 0}},
          .reason = is_same ? literal.reason : literal.reason + "; extracted: " + found.reason};
}

}  // namespace punt
