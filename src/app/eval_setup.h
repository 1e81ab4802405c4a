// What `punt eval`, `punt bench` and `punt demo` share: flags for an evaluation, and how it is opened.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "app/eval_report.h"
#include "app/model_flags.h"
#include "app/options.h"
#include "tasks/evaluation.h"

namespace punt {

struct EvalFlags : Evaluation {
  /// Without --planner if planners are given as a list.
  void AddTo(CLI::App& command, bool has_planner);
};

/// The model that was asked for, or else the bundled one for its task. Throws Error saying which kind of model the task
/// needs.
std::string ModelOf(const Evaluation& evaluation);

/// What opening is for. Without generating, the weights need not be prepared; one process of many prints no warnings.
struct OpenOptions {
  bool generates = true;
  bool warns = true;
};

/// Opens everything that it names, warnings printed. Throws Error.
EvalSetup OpenEval(const Evaluation& evaluation, const OpenOptions& options = {});

}  // namespace punt
