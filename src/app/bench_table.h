// Planners on a task as lines of a terminal, one as each is finished.
#pragma once

#include <span>
#include <string>

#include "eval/bench.h"

namespace punt {

/// Without line feeds. `width` is that of the planner column; all lines fit 80 columns where it leaves room.
int BenchPlannerWidth(std::span<const GridEntry> grid);
std::string BenchHeader(const TaskRow& task, int width);
std::string BenchLine(const TaskRow& task, const BenchRow& row, int width);

}  // namespace punt
