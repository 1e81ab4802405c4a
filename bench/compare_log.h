// The file of measurements that bench/compare keeps: JSON lines, written by compare_log_tool, read by compare_tool.
//
//   {"header": {...}}          first: the machine, the versions and what every measurement has in common
//   {"command": "..."}         one for every start of bench/compare
//   {"part": "forward", "engine": "punt", ..., "samples": [seconds, ...]}        passes of one process
//   {"part": "generate", "engine": "llama.cpp", ..., "seconds": ..., "text": ...}  one generation
//   {"part": "step", "engine": "punt", ..., "seconds": ..., "steps": ...}        a few steps of a larger model
//
// A line is written at once, so that a killed run leaves at most one that is cut off, at the end.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "report/data_file.h"

namespace punt {

struct CompareLog {
  nlohmann::ordered_json header;
  std::vector<std::string> commands;
  std::vector<nlohmann::ordered_json> measurements;
};

/// Without a last line that was cut off.
inline std::string_view WholeLines(std::string_view text) { return text.substr(0, text.rfind('\n') + 1); }

/// Throws Error naming the file and the line; a last line that was cut off is ignored.
inline CompareLog ReadCompareLog(const std::string& path) {
  CompareLog log;
  const std::string text = ReadDataFile(path);
  int number = 0;
  for (std::string_view line : SplitLines(WholeLines(text))) {
    ++number;
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(line, nullptr, false);
    if (!json.is_object()) BadInput("{}, line {}: not a JSON object", path, number);
    if (number == 1) {
      if (!json.contains("header") || !json["header"].is_object()) BadInput("{}: the first line is no header", path);
      log.header = json["header"];
    } else if (json.contains("command") && json["command"].is_string()) {
      log.commands.push_back(json["command"]);
    } else {
      log.measurements.push_back(std::move(json));
    }
  }
  if (number == 0) BadInput("{}: the file is empty", path);
  return log;
}

}  // namespace punt
