#include "eval/law_reference.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/error_testing.h"
#include "base/setting_error.h"

namespace punt {
namespace {

namespace fs = std::filesystem;

class LawReferenceTest : public testing::Test {
 protected:
  LawReferenceTest() { fs::create_directories(folder_); }
  ~LawReferenceTest() override { fs::remove_all(folder_); }

  /// What CheckLawReference says of this run, with a reference whose config.json holds `there`.
  std::string Told(const Configuration& here, const Configuration& there) const {
    std::string json;
    for (const auto& [name, value] : there) json += (json.empty() ? "{\"" : ", \"") + name + "\": \"" + value + '"';
    std::ofstream(folder_ / "config.json") << json << "}";
    return ErrorOf([&] { CheckLawReference(folder_.string(), here); });
  }

  static Configuration Run(const std::string& seed, const std::string& planner) {
    return {{"task", "stories"}, {"model", "m"},       {"temperature", "1"},
            {"eos", "none"},     {"planner", planner}, {"seed", seed}};
  }
  static Configuration With(Configuration run, const std::string& name, const std::string& value) {
    for (auto& [key, old] : run) {
      if (key == name) old = value;
    }
    if (!ValueIn(run, name)) run.emplace_back(name, value);
    return run;
  }

  // Tests run beside each other: a folder for each.
  const fs::path folder_ =
      fs::path(testing::TempDir()) /
      (std::string("law_reference_") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(LawReferenceTest, RunsOneByOneFromAnotherSeedAreTaken) {
  for (const char* planner : {"left-to-right", "top-k:k=1", "top-k", "random:k=1"}) {
    EXPECT_EQ(Told(Run("1", "punt"), Run("2", planner)), "accepted") << planner;
  }
  const Configuration filtered = With(Run("1", "punt"), "min_p", "0.1");
  EXPECT_EQ(Told(filtered, With(Run("2", "left-to-right"), "min_p", "0.1")), "accepted");
}

TEST_F(LawReferenceTest, PlannersThatTakeSeveralAtATimeAreRefused) {
  for (const char* planner : {"top-k:k=4", "punt", "random:k=2", "a planner of some other version"}) {
    EXPECT_NE(Told(Run("1", "punt"), Run("2", planner)).find(std::string("is a run of ") + planner), std::string::npos);
  }
}

TEST_F(LawReferenceTest, AnotherLawIsRefused) {
  const Configuration here = Run("1", "punt"), there = Run("2", "left-to-right");
  EXPECT_NE(Told(here, With(there, "task", "protein")).find("has task protein, this run has stories"),
            std::string::npos);
  EXPECT_NE(Told(here, With(there, "temperature", "0.7")).find("has temperature 0.7"), std::string::npos);
  EXPECT_NE(Told(here, With(there, "min_p", "0.1")).find("has min_p 0.1, this run has the default"), std::string::npos);
  EXPECT_NE(Told(With(here, "guidance", "2"), there).find("has guidance the default, this run has 2"),
            std::string::npos);
  EXPECT_NE(Told(here, With(there, "eos", "forbid")).find("has eos forbid, this run has none"), std::string::npos);
}

TEST_F(LawReferenceTest, FoldersOfNoRunAreRefused) {
  const Configuration here = Run("1", "punt");
  EXPECT_NE(ErrorOf([&] { CheckLawReference((folder_ / "no").string(), here); }).find("is no folder"),
            std::string::npos);
  EXPECT_NE(ErrorOf([&] { CheckLawReference(folder_.string(), here); }).find("config.json"), std::string::npos);
  EXPECT_NE(Told(here, {{"analysis", "error"}}).find("does not name the task"), std::string::npos);
}

TEST_F(LawReferenceTest, TheSameSeedIsASettingThatCouldBeChanged) {
  EXPECT_NE(Told(Run("2", "punt"), Run("2", "left-to-right")).find("has seed 2 as well"), std::string::npos);
  try {
    CheckLawReference(folder_.string(), Run("2", "punt"));
    FAIL();
  } catch (const SettingError& error) {
    EXPECT_EQ(error.setting(), "seed");
  }
}

}  // namespace
}  // namespace punt
