// What the scorers of programs share: the two readings of a response, run and put into one verdict.
#pragma once

#include <string>

#include "eval/scorer.h"
#include "tasks/code/python_runner.h"

namespace punt {

struct ProgramReadings {
  std::string extracted;  // what was taken for the answer, for the record
  std::string literal;    // program and checks, the response taken at its word: figure correct
  std::string found;      // program and checks, code looked for in the response: figure extracted_pass
};

PythonRunner::Options RunnerOptions(const ProgramOptions& options, double default_seconds);

/// Readings that come to the same program run once.
ScoreVerdict JudgeProgram(const PythonRunner& runner, const ProgramReadings& readings);

}  // namespace punt
