// The summary of an evaluation, as `punt eval` prints and writes it.
#pragma once

#include <string>

#include "eval/eval_log.h"
#include "eval/run.h"

namespace punt {

struct EvalReport {
  std::string task;
  std::string model;
  std::string planner;
  Configuration configuration;
  EvalSummary summary;
};

/// One JSON object: task, model, planner, items, unfinished, accuracy, ci95, nfe_mean, steps_mean, seconds_mean, then
/// the task's own figures (NAME and NAME_ci95), notes and the configuration. The accuracy is null if nothing is correct
/// or wrong.
std::string EvalJson(const EvalReport& report, int indent);

}  // namespace punt
