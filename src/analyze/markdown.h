// Small parts of Markdown reports.
#pragma once

#include <string>
#include <vector>

namespace punt {

/// Three significant digits; "0" for rounding noise (below 1e-12), "infinite".
std::string Number(double value);

/// A cost: four significant digits, or all before the point.
std::string Cost(double value);

/// Head and rule of a table whose first column is text and whose others are numbers.
std::string TableHead(const std::vector<std::string>& titles);

}  // namespace punt
