// Planners on a task as lines on a terminal, printed as each is finished.
#pragma once

#include <span>
#include <string>

#include "app/text_table.h"
#include "eval/bench.h"

namespace punt {

class BenchTable {
 public:
  /// `task` outlives it. `columns` is the width of lines.
  BenchTable(const TaskRow& task, std::span<const GridEntry> grid, bool has_temperature, int columns);

  std::string Head() const { return table_.Head(); }
  std::string Line(const BenchRow& row) const;

 private:
  const TaskRow& task_;
  bool has_temperature_;
  TextTable table_;
};

/// What a grid's rows are called in tables.
std::vector<std::string> PlannerNames(std::span<const GridEntry> grid);

}  // namespace punt
