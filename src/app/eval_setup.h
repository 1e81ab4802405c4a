// What `punt eval`, `punt bench` and `punt demo` share: flags for a task and for sampling, and what is made from them.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/eval_report.h"
#include "app/model_flags.h"
#include "app/options.h"
#include "eval/run.h"
#include "punt/model.h"
#include "punt/sampling.h"

namespace punt {

struct EvalFlags {
  std::string task;
  ModelFlags model;  // no name: none
  Sampling sampling;
  std::string data;
  std::string shots;
  std::string judge;  // empty: the bundled one, where the task takes one and it is there
  std::string reference;
  std::int64_t limit = 0;
  std::int64_t length = 0;

  /// Without --planner if planners are given as a list.
  void AddTo(CLI::App& command, bool has_planner);
};

/// The model of the flags, or else the bundled one for their task. Throws Error saying which kind of model the task
/// needs.
std::string ModelOf(const EvalFlags& flags);

/// A task, and the model that is to solve it, opened.
struct EvalSetup {
  std::optional<Model> model;  // none: the task answers itself
  std::unique_ptr<Task> task;
  SessionOptions session;
  std::size_t count = 0;  // items
  std::string judge;      // its path or bundled name
};

/// Identifies a file for a configuration by name and content (or a folder, with all below it); a large one (a model) by
/// its size, because reading gigabytes takes too long. Empty for an empty path.
std::string FileIdentity(const std::string& path, bool is_large);
/// The same for adapters ("PATH:SCALE"), with their scales.
std::string AdapterIdentity(const std::vector<std::string>& adapters);

/// What opening is for. Without generating, the weights need not be prepared; one process of many prints no warnings.
struct OpenOptions {
  bool generates = true;
  bool warns = true;
};

/// Opens everything that the flags name, warnings printed. Throws Error.
EvalSetup OpenEval(const EvalFlags& flags, const OpenOptions& options = {});

/// The task of the flags (with another seed than at opening, for example) for the setup's model, which it must not
/// outlive.
std::unique_ptr<Task> MakeEvalTask(const EvalFlags& flags, const EvalSetup& setup);

/// `score`, or else that of the flags, or else the model's own.
std::string ScoreOf(const EvalFlags& flags, const Model& model, const std::string& score);

/// How the flags sample, by that planner; `score` as above.
Sampling EvalSampling(const EvalFlags& flags, const Model& model, const std::string& planner, const std::string& score);

/// The recipe of the same.
Recipe MakeEvalRecipe(const EvalFlags& flags, const Model& model, const std::string& planner, const std::string& score);

/// The options of a session of the model; the threads of the flags.
SessionOptions EvalSession(const EvalFlags& flags, const Model& model);

/// What the configuration says of all that.
Configuration EvalSamplingConfiguration(const EvalFlags& flags, const Model& model, const std::string& planner,
                                        const std::string& score);

/// All items, cancelled by an interruption. Log and progress are the caller's to add.
EvalJob MakeEvalJob(const EvalFlags& flags, const EvalSetup& setup, const std::string& planner,
                    const std::string& score);

/// Everything that decides the result. `planner` and `score` as in MakeEvalRecipe; ignored without a model.
Configuration EvalConfiguration(const EvalFlags& flags, const EvalSetup& setup, const std::string& planner,
                                const std::string& score);

}  // namespace punt
