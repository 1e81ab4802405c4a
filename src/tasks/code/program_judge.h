// What the scorers of programs share: the two readings of a response, run and put into one verdict.
#pragma once

#include <string>

#include "eval/scorer.h"
#include "tasks/code/python_runner.h"

namespace punt {

struct ProgramReadings {
  std::string extracted;  // what was taken as the answer, for the record
  std::string literal;    // program and checks, the response taken literally: figure correct
  std::string found;      // program and checks, with code found in the response: figure extracted_pass
};

PythonRunner::Options RunnerOptions(const ProgramOptions& options, double default_seconds);

/// If both readings give the same program, it is run once.
ScoreVerdict JudgeProgram(const PythonRunner& runner, const ProgramReadings& readings);

}  // namespace punt
