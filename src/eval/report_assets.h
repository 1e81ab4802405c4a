// The parts of HTML reports that are files; cmake/PuntReport.cmake compiles them in.
#pragma once

#include <string_view>

namespace punt {

std::string_view ChartScript();   // Chart.js, MIT
std::string_view ReportScript();  // web/report/report.js
std::string_view ReportStyle();   // web/report/report.css

}  // namespace punt
