#include "app/trace_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <system_error>

#include "base/check.h"
#include "punt/error.h"

namespace punt {
namespace fs = std::filesystem;

TraceFile::TraceFile(const std::string& path) : name_(path), target_(path), writer_(out_) {
  if (path.empty()) BadInput("--trace needs the name of a file");
  std::error_code error;
  const fs::file_status status = fs::status(target_, error);
  if (fs::is_directory(status)) BadInput("--trace: {} is a directory", path);
  if (!fs::exists(status) || fs::is_regular_file(status)) {
    // A link stays a link: what it points to is replaced.
    if (fs::is_symlink(fs::symlink_status(target_, error)) && fs::exists(status)) target_ = fs::canonical(target_);
    partial_ = target_;
    partial_ += ".partial";
  }
  errno = 0;
  out_.open(partial_.empty() ? target_ : partial_, std::ios::binary | std::ios::trunc);
  if (!out_) {
    const std::string reason = std::strerror(errno);
    partial_.clear();  // not ours to remove
    BadInput("cannot write {}: {}", path, reason);
  }
}

TraceFile::~TraceFile() {
  if (is_finished_ || partial_.empty()) return;
  out_.close();
  std::error_code ignored;  // there is no one to report it to
  fs::remove(partial_, ignored);
}

void TraceFile::On(const TraceEvent& event) {
  try {
    errno = 0;
    writer_.On(event);
  } catch (const Error&) {
    FailToWrite(errno);
  }
}

void TraceFile::FailToWrite(int reason) const {
  throw Error(ErrorCode::kFailed, fmt::format("cannot write {}{}{}", name_, reason == 0 ? "" : ": ",
                                              reason == 0 ? "" : std::strerror(reason)));
}

void TraceFile::Finish() {
  errno = 0;
  out_.close();
  if (!out_) FailToWrite(errno);
  std::error_code error;
  if (!partial_.empty()) fs::rename(partial_, target_, error);
  if (error) throw Error(ErrorCode::kFailed, fmt::format("cannot write {}: {}", name_, error.message()));
  is_finished_ = true;
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
