#include "app/trace_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <system_error>

#include "base/check.h"

namespace punt {
namespace fs = std::filesystem;
namespace {

const std::string& Named(const std::string& path) {
  if (path.empty()) BadInput("--trace needs the name of a file");
  return path;
}

}  // namespace

TraceFile::TraceFile(const std::string& path) : file_(Named(path)) {}

void TraceFile::On(const TraceEvent& event) {
  const std::string line = ToJsonLine(event) + "\n";
  file_.Write(std::as_bytes(std::span(line)));
}

std::vector<TraceEvent> ReadTraceFile(const std::string& name) {
  if (name == "-") return ReadTrace(std::cin, "<stdin>");
  std::error_code ignored;  // opening will report it
  if (fs::is_directory(name, ignored)) BadInput("{} is a directory, not a trace", name);
  errno = 0;
  std::ifstream in(name, std::ios::binary);
  if (!in) BadInput("cannot read {}: {}", name, std::strerror(errno));
  return ReadTrace(in, name);
}

}  // namespace punt
