// The table of a summary that `punt eval` prints, and what it shares with `punt score`.
#pragma once

#include <string>
#include <vector>

#include "eval/eval_json.h"
#include "eval/run.h"

namespace punt {

/// Headings (empty ones are left out) and a line per figure, no line wider than `columns` where the names allow it.
std::string FigureTable(const std::vector<std::string>& headings, const std::vector<Figure>& figures, int columns);

/// A table, no line wider than `columns` where the names allow it.
std::string EvalTable(const EvalReport& report, int columns);

}  // namespace punt
