#include "model/bundled_models.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace punt {
namespace {

namespace fs = std::filesystem;

class BundledModelsTest : public testing::Test {
 protected:
  BundledModelsTest() : folder_(fs::temp_directory_path() / ("punt-bundled-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
    for (const char* name : {"stories.gguf", "stories.influence.gguf", "a.gguf", "README.md"})
      std::ofstream(folder_ / name) << "x";
    setenv("PUNT_MODELS_DIR", folder_.c_str(), 1);
  }
  ~BundledModelsTest() override {
    unsetenv("PUNT_MODELS_DIR");
    fs::remove_all(folder_);
  }
  const fs::path folder_;
};

TEST_F(BundledModelsTest, AreTheGgufFilesOfTheFolderInOrder) {
  const std::vector<BundledModel> models = BundledModels();
  ASSERT_EQ(models.size(), 2u);
  EXPECT_EQ(models[0].name, "a");
  EXPECT_EQ(models[1].name, "stories");
  EXPECT_EQ(models[1].file, folder_ / "stories.gguf");
}

TEST_F(BundledModelsTest, AreFoundByNameAndAllElseIsAPath) {
  EXPECT_EQ(LocateModel("stories"), folder_ / "stories.gguf");
  for (const char* path : {"./stories", "stories.gguf", "README", "README.md", "", "no/such", "toy"}) {
    EXPECT_EQ(LocateModel(path), fs::path(path));
  }
}

TEST_F(BundledModelsTest, FetchedOnesComeAfterBundledOnesAndFilesHere) {
  const fs::path fetched = folder_ / "cache/punt/models";
  fs::create_directories(fetched);
  for (const char* name : {"stories.gguf", "bert.gguf"}) std::ofstream(fetched / name) << "x";
  const char* before = std::getenv("XDG_CACHE_HOME");
  const std::string cache = before == nullptr ? "" : before;
  setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
  EXPECT_EQ(LocateModel("bert"), fetched / "bert.gguf");
  EXPECT_EQ(LocateModel("stories"), folder_ / "stories.gguf");
  EXPECT_EQ(LocateModel("./bert"), fs::path("./bert"));
  EXPECT_EQ(FetchedModels().size(), 2u);
  std::ofstream("bert") << "x";  // a file of this name in the working directory
  EXPECT_EQ(LocateModel("bert"), fs::path("bert"));
  fs::remove("bert");
  cache.empty() ? unsetenv("XDG_CACHE_HOME") : setenv("XDG_CACHE_HOME", cache.c_str(), 1);
}

TEST_F(BundledModelsTest, AMissingFolderHasNone) {
  setenv("PUNT_MODELS_DIR", (folder_ / "none").c_str(), 1);
  EXPECT_TRUE(BundledModels().empty());
  EXPECT_EQ(LocateModel("stories"), fs::path("stories"));
}

}  // namespace
}  // namespace punt
