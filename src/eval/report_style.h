// The style sheet of HTML reports, web/report.css; CMake compiles it in.
#pragma once

#include <string_view>

namespace punt {

std::string_view ReportStyle();

}  // namespace punt
