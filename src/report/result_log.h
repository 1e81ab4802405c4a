// Results of a long job, each kept as soon as it is made, so that an interrupted job can continue where it stopped.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace punt {

/// Named numbers: one measurement.
using Measurement = std::map<std::string, double>;

/// A file of JSON lines: a header with the configuration, then one line {"key": ..., "values": {...}} per result.
/// Add may be called from any thread. A file that cannot be written throws Error (failed).
class ResultLog {
 public:
  /// Reuses the results in `path` if its header has the same configuration and it was not finished; a last
  /// line that was cut off is ignored. Otherwise the file is started afresh.
  ResultLog(std::string path, std::string configuration);

  /// Results reused from an earlier run.
  const std::map<std::string, Measurement>& resumed() const { return resumed_; }

  /// Appends one line and flushes it.
  void Add(const std::string& key, const Measurement& values);

  /// Replaces the file with the given results in the given order, marked finished: a later run measures anew.
  void Finish(const std::vector<std::pair<std::string, Measurement>>& results);

 private:
  std::string path_;
  std::string configuration_;
  std::map<std::string, Measurement> resumed_;
  std::mutex mutex_;
};

}  // namespace punt
