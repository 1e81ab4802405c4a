// An evaluation: everything that `punt eval` and `punt bench` can be asked for, and what is made of it. Programs open
// the model, with the messages that they have; the rest is here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "denoise/model_choice.h"
#include "eval/run.h"
#include "punt/model.h"
#include "punt/sampling.h"

namespace punt {

struct Evaluation {
  std::string task;
  ModelChoice model;  // no name: none
  Sampling sampling;
  std::string data;
  std::string shots;
  std::string judge;  // empty: the bundled one, where the task takes one and it is there
  std::string reference;
  std::int64_t limit = 0;
  std::int64_t length = 0;
  bool constrained = false;  // answers are held to what the task knows of right ones
};

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

/// The judge's path or bundled name; empty if there is none.
std::string JudgeOf(const Evaluation& evaluation);

/// Makes the rest of a setup that has its model and judge. Throws Error, also on a model whose kind is not the task's.
void Complete(EvalSetup& setup, const Evaluation& evaluation);

/// The task (with another seed than at opening, for example) for the setup's model, which it must not outlive.
std::unique_ptr<Task> MakeEvalTask(const Evaluation& evaluation, const EvalSetup& setup);

/// `score`, or else that of the sampling, or else the model's own.
std::string ScoreOf(const Evaluation& evaluation, const Model& model, const std::string& score);

/// How the texts are sampled, by that planner; `score` as above.
Sampling EvalSampling(const Evaluation& evaluation, const Model& model, const std::string& planner,
                      const std::string& score);

/// The recipe of the same.
Recipe MakeEvalRecipe(const Evaluation& evaluation, const Model& model, const std::string& planner,
                      const std::string& score);

/// The options of a session of the model; the threads of the choice.
SessionOptions EvalSession(const Evaluation& evaluation, const Model& model);

/// What the configuration says of all that.
Configuration EvalSamplingConfiguration(const Evaluation& evaluation, const Model& model, const std::string& planner,
                                        const std::string& score);

/// All items. Log, progress and what cancels are the caller's to add.
EvalJob MakeEvalJob(const Evaluation& evaluation, const EvalSetup& setup, const std::string& planner,
                    const std::string& score);

/// Everything that decides the result. `planner` and `score` as in MakeEvalRecipe; ignored without a model.
Configuration EvalConfiguration(const Evaluation& evaluation, const EvalSetup& setup, const std::string& planner,
                                const std::string& score);

}  // namespace punt
