// Published files that some tests use and that do not come along: benchmark sets, tokenizers, recorded verdicts.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace punt::testing {

/// Where a file or folder of theirs is: in $PUNT_TEST_DATA, or else in ~/.cache/punt/test-data or ../shared/data beside
/// the sources, whichever has it. A path that is not there says what is missing.
inline std::filesystem::path TestData(const std::string& name) {
  namespace fs = std::filesystem;
  if (const char* told = std::getenv("PUNT_TEST_DATA")) return fs::path(told) / name;
  const char* home = std::getenv("HOME");
  const fs::path cached = fs::path(home == nullptr ? "/" : home) / ".cache/punt/test-data" / name;
  if (fs::exists(cached)) return cached;
  return (fs::path(PUNT_SOURCE_DIR) / "../shared/data" / name).lexically_normal();
}

}  // namespace punt::testing
