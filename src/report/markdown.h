// Small parts of Markdown reports.
#pragma once

#include <string>
#include <vector>

#include "report/confidence.h"

namespace punt {

/// Three significant digits; "0" for rounding noise (below 1e-12), "infinite".
std::string Number(double value);

/// A cost: four significant digits, or all digits before the decimal point.
std::string Cost(double value);

/// "5.42 [4.54, 6.48]", or only the value if there is no interval.
std::string WithInterval(double value, const std::optional<Interval>& ci95);
std::string WithInterval(const Estimate& estimate);

/// Head and rule of a table whose first column is text and whose others are numbers.
std::string TableHead(const std::vector<std::string>& titles);

}  // namespace punt
