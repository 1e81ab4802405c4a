// What the programs of bench/ share.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <sstream>
#include <string>
#include <vector>

namespace punt {

/// What main returns: an error is one line that begins with the program's name, and exit code 2.
template <typename Body>
int RunTool(const char* name, const Body& body) {
  try {
    return body();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
    return 2;
  }
}

inline std::vector<std::string> Split(const std::string& list, char separator = ',') {
  std::vector<std::string> items;
  std::istringstream in(list);
  for (std::string item; std::getline(in, item, separator);) items.push_back(item);
  return items;
}

}  // namespace punt
