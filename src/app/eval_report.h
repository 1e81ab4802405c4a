// The summary that `punt eval` prints and writes, and the table that it shares with `punt score`.
#pragma once

#include <string>
#include <vector>

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

/// Headings (empty ones are left out) and a line per figure, no line wider than `columns` where the names allow it.
std::string FigureTable(const std::vector<std::string>& headings, const std::vector<Figure>& figures, int columns);

/// A table, no line wider than `columns` where the names allow it.
std::string EvalTable(const EvalReport& report, int columns);

}  // namespace punt
