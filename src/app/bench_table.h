// Planners on a task as lines of a terminal, one as each is finished.
#pragma once

#include <span>
#include <string>

#include "eval/bench.h"

namespace punt {

struct BenchColumns {
  int planner = 0;               // width
  bool has_temperature = false;  // a column of them
};

/// Without line feeds; all lines fit 80 columns where the quality leaves room.
BenchColumns BenchColumnsOf(std::span<const GridEntry> grid, bool has_temperature);
std::string BenchHeader(const TaskRow& task, const BenchColumns& columns);
std::string BenchLine(const TaskRow& task, const BenchRow& row, const BenchColumns& columns);

}  // namespace punt
