// Published files that some tests use and that do not come along: benchmark sets, tokenizers, recorded verdicts.
// scripts/fetch-test-data brings what can be had; tests without their files are skipped (REQUIRE_TEST_DATA).
#pragma once

#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

namespace punt::testing {

/// Where they may be: $PUNT_TEST_DATA alone, if it is set; or else the cache and ../shared/data beside the sources.
inline std::vector<std::filesystem::path> TestDataFolders() {
  namespace fs = std::filesystem;
  const auto value = [](const char* name) {
    const char* text = std::getenv(name);
    return fs::path(text == nullptr ? "" : text);
  };
  if (!value("PUNT_TEST_DATA").empty()) return {value("PUNT_TEST_DATA")};
  const fs::path cache = value("XDG_CACHE_HOME").empty() ? value("HOME") / ".cache" : value("XDG_CACHE_HOME");
  return {cache / "punt/test-data", (fs::path(PUNT_SOURCE_DIR) / "../shared/data").lexically_normal()};
}

/// The file or folder `name`, such as "gsm8k/test.jsonl", in the first of the folders that has it. Ask for each by its
/// own name: folders may have some of them. A path that is not there when none has it.
inline std::filesystem::path TestData(const std::string& name) {
  const std::vector<std::filesystem::path> folders = TestDataFolders();
  for (const std::filesystem::path& folder : folders) {
    if (std::filesystem::exists(folder / name)) return folder / name;
  }
  return folders.front() / name;
}

/// Why a test that needs all of these is skipped; empty when they are there. scripts/count-tests knows the wording.
inline std::string MissingTestData(std::initializer_list<std::string> names) {
  for (const std::string& name : names) {
    if (!std::filesystem::exists(TestData(name))) return "no test data: " + name;
  }
  return "";
}

}  // namespace punt::testing

/// Skips the test unless all files of these names are there.
#define REQUIRE_TEST_DATA(...)                                                                       \
  if (const std::string missing = ::punt::testing::MissingTestData({__VA_ARGS__}); !missing.empty()) \
  GTEST_SKIP() << missing
