#include "report/result_log.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "punt/error.h"

namespace punt {
namespace {

class ResultLogTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = (std::filesystem::path(testing::TempDir()) /
             (std::string("result_log_") + testing::UnitTest::GetInstance()->current_test_info()->name() + ".jsonl"))
                .string();
    std::filesystem::remove(path_);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  std::string Text() const {
    std::ifstream in(path_);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }

  std::string path_;
};

TEST_F(ResultLogTest, GoesOnWhereItStopped) {
  {
    ResultLog log(path_, "a");
    EXPECT_TRUE(log.resumed().empty());
    log.Add("one", {{"x", 1.5}, {"y", INFINITY}});
    log.Add("two", {{"x", 0.1}});
  }
  const ResultLog log(path_, "a");
  ASSERT_EQ(log.resumed().size(), 2u);
  EXPECT_EQ(log.resumed().at("one").at("x"), 1.5);
  EXPECT_TRUE(std::isinf(log.resumed().at("one").at("y")));
  EXPECT_EQ(log.resumed().at("two").at("x"), 0.1);
}

TEST_F(ResultLogTest, IgnoresALineThatWasCutOff) {
  {
    ResultLog log(path_, "a");
    log.Add("one", {{"x", 1}});
  }
  std::ofstream(path_, std::ios::app) << R"({"key":"two","values":{"x":2}})";  // no newline: maybe 2, maybe 25
  {
    ResultLog log(path_, "a");
    EXPECT_EQ(log.resumed().size(), 1u);
    log.Add("three", {{"x", 3}});
  }
  const ResultLog log(path_, "a");
  EXPECT_EQ(log.resumed().size(), 2u);
  EXPECT_EQ(log.resumed().count("three"), 1u);
}

TEST_F(ResultLogTest, AnotherConfigurationStartsAfresh) {
  {
    ResultLog log(path_, "a");
    log.Add("one", {{"x", 1}});
  }
  EXPECT_TRUE(ResultLog(path_, "b").resumed().empty());
  EXPECT_TRUE(ResultLog(path_, "a").resumed().empty()) << "and forgets the old results";
}

TEST_F(ResultLogTest, AFinishedFileIsMadeAnew) {
  {
    ResultLog log(path_, "a");
    log.Add("two", {{"x", 2}});
    log.Add("one", {{"x", 1}});
    log.Finish({{"one", {{"x", 1}}}, {"two", {{"x", 2}}}});
  }
  EXPECT_LT(Text().find("one"), Text().find("two"));
  EXPECT_TRUE(ResultLog(path_, "a").resumed().empty());
}

TEST_F(ResultLogTest, FailsOnAFolderThatDoesNotExist) {
  EXPECT_THROW(ResultLog("/nonexistent-folder/x.jsonl", "a"), Error);
}

}  // namespace
}  // namespace punt
