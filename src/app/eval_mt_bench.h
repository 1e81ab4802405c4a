// punt eval mt-bench: a model's answers to MT-Bench's questions, two turns each, for `punt score mt-bench` to judge.
#pragma once

#include <string>

#include "app/eval_setup.h"

namespace punt {

struct MtBenchRun {
  std::string planner;
  std::string out;  // folder; empty: answers go to the standard output
  bool json = false;
};

/// Returns the exit code. Answers are in FastChat's format, a line per question as it is finished; the same command
/// continues where an earlier one stopped.
int AnswerMtBench(const EvalFlags& flags, const MtBenchRun& run);

}  // namespace punt
