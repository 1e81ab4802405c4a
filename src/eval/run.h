// Running an evaluation: every item generated, judged and recorded; then the summary.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "eval/eval_log.h"
#include "eval/task.h"
#include "punt/generator.h"

namespace punt {

struct EvalJob {
  Task* task = nullptr;
  const Model* model = nullptr;  // null: the task makes its responses itself
  std::size_t count = 0;         // items
  Recipe recipe = {};            // item i is generated as sample i
  SessionOptions session = {};   // tokens banned by the task are added
  EvalLog* log = nullptr;        // optional
  const std::atomic<bool>* cancel = nullptr;
  std::function<void(std::size_t done)> on_progress = {};  // before every item
};

/// The records of all items in order; fewer after a cancellation. Those in the log are taken from there.
std::vector<EvalRecord> RunItems(const EvalJob& job);

struct EvalSummary {
  std::size_t items = 0;
  std::optional<Estimate> accuracy;  // where the task says what is correct
  Estimate nfe;
  Estimate steps;
  double seconds = 0;           // mean
  std::vector<Figure> figures;  // the task's own
  std::vector<std::string> notes;
};

/// `records` is not empty.
EvalSummary Summarise(const Task& task, std::span<const EvalRecord> records);

}  // namespace punt
