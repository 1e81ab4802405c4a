// Where tests look for published files.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <optional>

#include "base/test_data_testing.h"

namespace punt {
namespace {

namespace fs = std::filesystem;
using testing::MissingTestData;
using testing::TestData;

/// Sets a variable of the environment for as long as it lives.
class Setting {
 public:
  Setting(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~Setting() {
    if (old_) {
      setenv(name_, old_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* const name_;
  std::optional<std::string> old_;
};

class TestDataTest : public ::testing::Test {
 protected:
  ~TestDataTest() override { fs::remove_all(folder_); }

  void Touch(const std::string& name) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << "x";
  }

  const fs::path folder_ = fs::temp_directory_path() / ("punt-test-data-" + std::to_string(getpid()));
};

TEST_F(TestDataTest, EachFileIsTakenFromTheFirstFolderThatHasIt) {
  const Setting nothing("PUNT_TEST_DATA", "");
  const Setting cache("XDG_CACHE_HOME", folder_.string());
  Touch("punt/test-data/a_set/here");
  EXPECT_EQ(TestData("a_set/here"), folder_ / "punt/test-data/a_set/here");
  EXPECT_EQ(TestData("a_set/nowhere"), folder_ / "punt/test-data/a_set/nowhere");
  ASSERT_EQ(testing::TestDataFolders().size(), 2u);
  EXPECT_EQ(testing::TestDataFolders()[1], fs::path(PUNT_SOURCE_DIR).parent_path() / "shared/data");
  EXPECT_EQ(MissingTestData({"a_set/here", "a_set/nowhere"}), "no test data: a_set/nowhere");
  EXPECT_EQ(MissingTestData({"a_set/here", "a_set"}), "");
  const Setting no_cache("XDG_CACHE_HOME", "");
  const Setting home("HOME", folder_.string());
  Touch(".cache/punt/test-data/a_set/there");
  EXPECT_EQ(TestData("a_set/there"), folder_ / ".cache/punt/test-data/a_set/there");
}

TEST_F(TestDataTest, AFolderThatIsNamedIsTheOnlyOne) {
  Touch("punt/test-data/a_set/here");
  Touch("named/a_set/other");
  const Setting cache("XDG_CACHE_HOME", folder_.string());
  const Setting named("PUNT_TEST_DATA", (folder_ / "named").string());
  EXPECT_EQ(TestData("a_set/other"), folder_ / "named/a_set/other");
  EXPECT_EQ(MissingTestData({"a_set/here"}), "no test data: a_set/here");
}

}  // namespace
}  // namespace punt
