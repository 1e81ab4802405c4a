// The rows of the task registry, one per file of its name. tasks.cc puts them in order.
#pragma once

#include "eval/task.h"

namespace punt {

extern const TaskRow kSudokuRow;
extern const TaskRow kStoriesRow;
extern const TaskRow kMembraneRow;
extern const TaskRow kGsm8kRow;
extern const TaskRow kMathRow;
extern const TaskRow kCountdownRow;

}  // namespace punt
