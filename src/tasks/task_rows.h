// The rows of the task registry, each in the file of its name. tasks.cc puts them in order.
#pragma once

#include "eval/task.h"

namespace punt {

extern const TaskRow kSudokuRow;
extern const TaskRow kStoriesRow;
extern const TaskRow kMembraneRow;
extern const TaskRow kProteinRow;
extern const TaskRow kInfillRow;
extern const TaskRow kRecordsRow;
extern const TaskRow kListsRow;
extern const TaskRow kPuzzlesRow;
extern const TaskRow kParallelbenchRow;
extern const TaskRow kGsm8kRow;
extern const TaskRow kMathRow;
extern const TaskRow kMath500Row;
extern const TaskRow kCountdownRow;
extern const TaskRow kHumanEvalRow;
extern const TaskRow kMbppRow;
extern const TaskRow kIfevalRow;

/// For `protein`, which asks the same of a model.
std::span<const ParamRow> MembraneParams();

}  // namespace punt
