#include "model/hub_cache.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "model/bundled_models.h"
#include "weights/weights_testing.h"

namespace punt {
namespace {

using testing::ExpectError;
using testing::TempFolder;
using testing::WriteAll;
namespace fs = std::filesystem;
using Names = std::vector<std::string>;

constexpr const char* kVariables[] = {"HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "HOME"};

/// The environment without those that say where the cache is, and with `folder` as it.
class HubCache : public ::testing::Test {
 protected:
  HubCache() {
    for (const char* name : kVariables) {
      const char* value = std::getenv(name);
      if (value != nullptr) before_.emplace_back(name, value);
      unsetenv(name);
    }
    setenv("HF_HUB_CACHE", folder_.path().c_str(), 1);
  }
  ~HubCache() override {
    for (const char* name : kVariables) unsetenv(name);
    for (const auto& [name, value] : before_) setenv(name.c_str(), value.c_str(), 1);
  }

  void Put(const std::string& file) const {
    const fs::path path = Snapshot() / file;
    fs::create_directories(path.parent_path());
    WriteAll(path, "x");
  }
  void PutRef(const std::string& text) const {
    fs::create_directories(folder_ / "models--user--repo/refs");
    WriteAll(folder_ / "models--user--repo/refs/main", text);
  }
  fs::path Snapshot() const { return folder_ / "models--user--repo/snapshots" / kCommit; }

  const std::string kCommit = std::string(40, 'a');
  TempFolder folder_;
  std::vector<std::pair<std::string, std::string>> before_;
};

std::string Main(const Names& names, const std::string& text) { return ChooseHubFiles(names, ParseHubName(text)).main; }

TEST(HubName, HasARepositoryARevisionAndAType) {
  const HubName name = ParseHubName("hf:user/repo.v1@v1.0-rc_1:sub/a-Q8_0.gguf");
  EXPECT_EQ(name.repo, "user/repo.v1");
  EXPECT_EQ(name.revision, "v1.0-rc_1");
  EXPECT_EQ(name.type, "sub/a-Q8_0.gguf");
  EXPECT_EQ(name.text(), "hf:user/repo.v1@v1.0-rc_1:sub/a-Q8_0.gguf");
  EXPECT_EQ(ParseHubName("bert-base-uncased").text(), "hf:bert-base-uncased");
  EXPECT_TRUE(IsHubName("hf:a/b"));
  EXPECT_FALSE(IsHubName("a/b"));
}

TEST(HubName, RefusesWhatCanBeNone) {
  for (const char* wrong :
       {"",           "hf:",  "/",       "a/",     "/b",       "a/b/c",           "../b",     "a/..",  "a b/c",
        "a/b:",       "a/b@", "a/b@x/y", "a/b@..", "a/b:../c", "a/b:/etc/passwd", "a/b:x//y", "a/b?c", "a/b#c",
        "http://a/b", "a/-b", ".a/b",    "a--b/c", "a/b:c\\d"}) {
    ExpectError([&] { ParseHubName(wrong); }, {"'"});
  }
}

TEST(HubName, NamesOfFilesStayInside) {
  for (const char* good : {"a", "a/b.gguf", "a..b", "...", "a b", ".hidden"})
    EXPECT_NO_THROW(RequireInside(good)) << good;
  for (const char* bad : {"", ".", "..", "../a", "a/..", "a/../b", "/a", "a/", "a//b", "a\\..\\b", "./a"}) {
    ExpectError([&] { RequireInside(bad); }, {"refused"});
  }
  ExpectError([] { RequireInside(std::string(256, 'a')); }, {"refused"});
  EXPECT_THROW(RequireInside("a\nb"), Error);
}

TEST(HubChoice, GgufFilesByType) {
  const Names names = {"README.md",       "m-Q4_K_M.gguf",    "m-Q8_0.gguf",
                       "mmproj-F16.gguf", "m.influence.gguf", "BF16/m-x.gguf"};
  EXPECT_EQ(Main(names, "u/r"), "m-Q4_K_M.gguf");
  EXPECT_EQ(Main(names, "u/r:q8_0"), "m-Q8_0.gguf");
  EXPECT_EQ(Main(names, "u/r:Q4_K_M"), "m-Q4_K_M.gguf");
  EXPECT_EQ(Main(names, "u/r:bf16"), "BF16/m-x.gguf");
  EXPECT_EQ(Main(names, "u/r:m-Q8_0.gguf"), "m-Q8_0.gguf");
  ExpectError([&] { Main(names, "u/r:q2_k"); }, {"u/r", "q2_k", "m-Q8_0.gguf"});
  ExpectError([&] { Main(names, "u/r:8_0x"); }, {"8_0x"});
  EXPECT_EQ(Main({"only.gguf"}, "u/r"), "only.gguf");
  ExpectError([] { Main({"a-Q8_0.gguf", "b-Q8_0.gguf"}, "u/r:q8_0"); }, {"several", "a-Q8_0.gguf", "b-Q8_0.gguf"});
  ExpectError([] { Main({"a.gguf", "b.gguf"}, "u/r"); }, {"several", "a.gguf", "b.gguf"});
}

TEST(HubChoice, GgufFilesInParts) {
  const Names names = {"m-Q8_0-00002-of-00002.gguf", "m-Q8_0-00001-of-00002.gguf", "m-F16-00001-of-00003.gguf"};
  const HubChoice choice = ChooseHubFiles(names, ParseHubName("u/r:q8_0"));
  EXPECT_EQ(choice.files, Names({"m-Q8_0-00001-of-00002.gguf", "m-Q8_0-00002-of-00002.gguf"}));
  EXPECT_EQ(choice.main, choice.files.front());
  EXPECT_EQ(Main(names, "u/r"), choice.main);  // the other is not whole
}

TEST(HubChoice, Folders) {
  const Names names = {"config.json",
                       "model-00001-of-00002.safetensors",
                       "model-00002-of-00002.safetensors",
                       "merges.txt",
                       "model.safetensors.index.json",
                       "tokenizer.json",
                       "training.bin",
                       "pytorch_model.bin",
                       "onnx/model.onnx"};
  const HubChoice choice = ChooseHubFiles(names, ParseHubName("u/r"));
  EXPECT_EQ(choice.main, "");
  EXPECT_EQ(choice.files, Names({"config.json", "tokenizer.json", "merges.txt", "model.safetensors.index.json",
                                 "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"}));
  EXPECT_EQ(ChooseHubFiles(Names{"config.json", "pytorch_model.bin"}, ParseHubName("u/r")).files,
            Names({"config.json", "pytorch_model.bin"}));
  EXPECT_EQ(ChooseHubFiles(Names{"adapter_config.json", "adapter_model.safetensors"}, ParseHubName("u/r")).files,
            Names({"adapter_config.json", "adapter_model.safetensors"}));
  EXPECT_EQ(ChooseHubFiles(Names{"a.gguf", "config.json", "model.safetensors"}, ParseHubName("u/r:safetensors")).main,
            "");
  ExpectError([] { Main({"config.json", "model.safetensors"}, "u/r:q8_0"); }, {"u/r", "q8_0", "no GGUF"});
  ExpectError([] { Main({"README.md"}, "u/r"); }, {"u/r", "no model"});
  ExpectError([] { Main({"config.json", "flax_model.msgpack"}, "u/r"); }, {"u/r", "no weights"});
}

TEST_F(HubCache, FolderIsTheLibrarysOwn) {
  EXPECT_EQ(HubCacheFolder(), folder_.path());
  unsetenv("HF_HUB_CACHE");
  ExpectError([] { HubCacheFolder(); }, {"HF_HOME"});
  setenv("HOME", "/h", 1);
  EXPECT_EQ(HubCacheFolder(), "/h/.cache/huggingface/hub");
  setenv("XDG_CACHE_HOME", "/x", 1);
  EXPECT_EQ(HubCacheFolder(), "/x/huggingface/hub");
  setenv("HF_HOME", "/hf", 1);
  EXPECT_EQ(HubCacheFolder(), "/hf/hub");
  EXPECT_EQ(HubRepoFolder(ParseHubName("u/r")), "/hf/hub/models--u--r");
  EXPECT_EQ(HubRepoFolder(ParseHubName("gpt2")), "/hf/hub/models--gpt2");
}

TEST_F(HubCache, FindsWhatIsWhole) {
  const HubName name = ParseHubName("user/repo");
  EXPECT_FALSE(FindInHubCache(name));
  Put("config.json");
  Put("model.safetensors");
  EXPECT_FALSE(FindInHubCache(name)) << "no branch leads to it";
  PutRef("../../x");
  EXPECT_FALSE(FindInHubCache(name));
  PutRef(kCommit + "\n");
  EXPECT_EQ(FindInHubCache(name), Snapshot());
  EXPECT_EQ(FindInHubCache(ParseHubName("user/repo@" + kCommit)), Snapshot());
  EXPECT_FALSE(FindInHubCache(ParseHubName("user/repo@other")));
  EXPECT_EQ(LocateModel("hf:user/repo"), Snapshot());
  EXPECT_EQ(LocateModel("hf:user/other"), "hf:user/other");
  EXPECT_FALSE(FindInHubCache(ParseHubName("user/repo:q8_0")));
  Put("a-Q8_0.gguf");
  EXPECT_EQ(FindInHubCache(ParseHubName("user/repo:q8_0")), Snapshot() / "a-Q8_0.gguf");
}

TEST_F(HubCache, LooksForTheFilesOfAnIndex) {
  const HubName name = ParseHubName("user/repo");
  PutRef(kCommit);
  Put("config.json");
  Put("model-00001-of-00002.safetensors");
  WriteAll(Snapshot() / "model.safetensors.index.json",
           R"({"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}})");
  EXPECT_FALSE(FindInHubCache(name));
  Put("model-00002-of-00002.safetensors");
  EXPECT_EQ(FindInHubCache(name), Snapshot());
  fs::remove(Snapshot() / "model-00002-of-00002.safetensors");
  fs::create_symlink("../../blobs/gone", Snapshot() / "model-00002-of-00002.safetensors");
  EXPECT_FALSE(FindInHubCache(name)) << "a link that leads nowhere";
}

}  // namespace
}  // namespace punt
