// The table of `punt analyze`. Adding an analysis: a file cmd_analyze_<name>.cc and a row in cmd_analyze.cc.
#pragma once

#include "app/command.h"

namespace punt {

Runner AddExactness(CLI::App& command);
Runner AddErrorStudy(CLI::App& command);
Runner AddOrderStudy(CLI::App& command);
Runner AddAttentionStudy(CLI::App& command);
Runner AddInfluenceStudy(CLI::App& command);

}  // namespace punt
