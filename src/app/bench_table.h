// Planners on a task as lines on a terminal, printed as each is finished.
#pragma once

#include <span>
#include <string>

#include "eval/bench.h"

namespace punt {

struct BenchColumns {
  int planner = 0;               // width
  bool has_temperature = false;  // a column of them
};

/// The width of a table on the standard output: the terminal's, and more than enough for a pipe, which cuts nothing.
int TableWidth();

/// Without line feeds. The planner column is as wide as needed, as long as lines fit `width` columns.
BenchColumns BenchColumnsOf(std::span<const GridEntry> grid, bool has_temperature, int width);
std::string BenchHeader(const TaskRow& task, const BenchColumns& columns);
std::string BenchLine(const TaskRow& task, const BenchRow& row, const BenchColumns& columns);

}  // namespace punt
