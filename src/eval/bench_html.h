// A report of a bench as one HTML file: interactive plots, the table, and what was run. It opens from the disk, without
// network or script: everything is within it, and the legend is made of checkboxes that the style sheet looks at.
#pragma once

#include <string>

#include "eval/bench.h"
#include "eval/eval_log.h"

namespace punt {

/// `configuration` is shown as it is, one line each. Without a measured quality there are no plots.
std::string BenchHtml(const BenchReport& report, const Configuration& configuration);

}  // namespace punt
