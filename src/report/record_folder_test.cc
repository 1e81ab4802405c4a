#include "report/record_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/error_testing.h"
#include "punt/error.h"
#include "report/data_file.h"

namespace punt {
namespace {

namespace fs = std::filesystem;

class RecordFolderTest : public testing::Test {
 protected:
  ~RecordFolderTest() override { fs::remove_all(folder_); }

  /// Opens the folder and closes it again.
  std::vector<std::string> Records(const Configuration& configuration, const std::vector<std::string>& more = {}) {
    std::vector<std::string> records;
    RecordFolder folder(folder_, configuration, "study", [&](std::string_view line) { records.emplace_back(line); });
    for (const std::string& line : more) folder.Add(line);
    return records;
  }
  std::string Items() const { return ReadDataFile((folder_ / "items.jsonl").string()); }

  const fs::path folder_ = fs::path(testing::TempDir()) / ("record_folder_" + std::to_string(::getpid()));
  using Lines = std::vector<std::string>;
};

TEST_F(RecordFolderTest, GoesOnWhereItStopped) {
  EXPECT_EQ(Records({{"a", "1"}}, {"one", "two"}), Lines{});
  EXPECT_EQ(Records({{"a", "1"}}, {"three"}), Lines({"one", "two"}));
  EXPECT_EQ(Items(), "one\ntwo\nthree\n");
}

TEST_F(RecordFolderTest, ALineThatWasCutOffIsDropped) {
  Records({{"a", "1"}}, {"one"});
  WriteFileAtomically(folder_ / "items.jsonl", "one\ntw");
  EXPECT_EQ(Records({{"a", "1"}}, {"three"}), Lines({"one"}));
  EXPECT_EQ(Items(), "one\nthree\n");
}

TEST_F(RecordFolderTest, AnotherConfigurationIsRefusedAndNothingIsLost) {
  Records({{"a", "1"}, {"b", "2"}}, {"one"});
  const std::string message = ErrorOf([&] { Records({{"a", "1"}, {"b", "3"}}); });
  EXPECT_NE(message.find("holds another study: b is 2 there and 3 here"), std::string::npos) << message;
  EXPECT_EQ(Items(), "one\n");
}

TEST_F(RecordFolderTest, NumbersOfAConfigurationAreTheirText) {
  fs::create_directories(folder_);
  WriteFileAtomically(folder_ / "config.json", R"({"task": "t", "seconds": 3.0, "count": 7, "more": [1]})");
  EXPECT_EQ(ReadConfiguration(folder_), (Configuration{{"task", "t"}, {"seconds", "3.0"}, {"count", "7"}}));
  EXPECT_EQ(Records({{"task", "t"}, {"seconds", "3.0"}, {"count", "7"}}), Lines{});
  EXPECT_THROW(Records({{"task", "t"}, {"seconds", "4.0"}, {"count", "7"}}), Error);
}

TEST_F(RecordFolderTest, MayStartOver) {
  Records({{"a", "1"}}, {"one"});
  {
    RecordFolder folder(folder_, {{"a", "1"}}, "study", [](std::string_view) {});
    folder.StartOver();
    folder.Add("two");
  }
  EXPECT_EQ(Items(), "two\n");
}

TEST_F(RecordFolderTest, IsForOneAtATime) {
  const RecordFolder folder(folder_, {{"a", "1"}}, "study", [](std::string_view) {});
  EXPECT_THROW(Records({{"a", "1"}}), Error);
}

}  // namespace
}  // namespace punt
