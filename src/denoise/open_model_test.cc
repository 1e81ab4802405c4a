#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "base/error_testing.h"
#include "denoise/exact_model.h"
#include "punt/error.h"
#include "punt/model.h"

namespace punt {
namespace {

std::string Refusal(std::string_view name) {
  return ErrorOf([&] { OpenModel(name); });
}

TEST(OpenModelTest, OpensEveryToyByItsNameAlone) {
  ASSERT_EQ(Toys().size(), 5u);
  for (const ToyRow& row : Toys()) {
    const Model model = OpenModel(fmt::format("toy:{}", row.name));
    EXPECT_NE(dynamic_cast<const ExactDenoiser*>(model.denoiser.get()), nullptr);
    EXPECT_FALSE(row.summary.empty());
    for (const ParamRow& param : row.params) EXPECT_FALSE(param.help.empty()) << param.key;
  }
}

TEST(OpenModelTest, NamesAreCompleteAndOpenTheSameModel) {
  for (const ToyRow& row : Toys()) {
    const Model model = OpenModel(fmt::format("toy:{},vocab=3,seed=5", row.name));
    for (const ParamRow& param : row.params) {
      EXPECT_NE(model.name.find(fmt::format(",{}=", param.key)), std::string::npos) << model.name;
    }
    EXPECT_EQ(model.name, model.denoiser->info().name);
    const Model again = OpenModel(model.name);
    EXPECT_EQ(again.name, model.name);
    const auto& a = dynamic_cast<const ExactDenoiser&>(*model.denoiser).model();
    const auto& b = dynamic_cast<const ExactDenoiser&>(*again.denoiser).model();
    ASSERT_EQ(a.length(), b.length());
    const std::vector<Token> canvas = {3, 0, 3, 1};
    std::vector<double> rows_a(12);
    std::vector<double> rows_b(12);
    a.Conditionals(canvas, rows_a);
    b.Conditionals(canvas, rows_b);
    EXPECT_EQ(rows_a, rows_b);
  }
}

TEST(OpenModelTest, KeysReachTheModel) {
  const Model model = OpenModel("toy:markov,length=40,vocab=8,seed=1,coupling=0.9,permute=true,eos=7");
  EXPECT_EQ(model.name, "toy:markov,length=40,vocab=8,seed=1,coupling=0.9,concentration=1,permute=true,eos=7");
  EXPECT_EQ(model.denoiser->info().max_length, 40);
  EXPECT_EQ(model.denoiser->info().vocab_size, 9);
  EXPECT_EQ(model.denoiser->info().eos_tokens, (std::vector<Token>{7}));
  EXPECT_EQ(model.tokenizer->Decode(std::vector<Token>{0, 7, 8}), "ah_");
}

TEST(OpenModelTest, ErrorsSayWhatIsValid) {
  for (const char* name : {"", "llada", "toy", "markov", "TOY:markov", " toy:markov"}) {
    const std::string refusal = Refusal(name);
    EXPECT_NE(refusal.find(fmt::format("unknown model '{}'", name)), std::string::npos) << refusal;
    for (const ToyRow& row : Toys()) EXPECT_NE(refusal.find(fmt::format("toy:{}", row.name)), std::string::npos);
  }
  for (const char* name : {"nosuch.gguf", "./nosuch", "folder/nosuch.safetensors"}) {
    EXPECT_EQ(Refusal(name), fmt::format("no such file: {}", name));
  }
  EXPECT_NE(Refusal("toy:makrov").find("unknown toy model 'makrov' (did you mean markov?)"), std::string::npos);
  for (const char* name : {"toy:", "toy:chain", "toy:markov:length=3", "toy:,length=3"}) {
    const std::string refusal = Refusal(name);
    EXPECT_NE(refusal.find("unknown toy model"), std::string::npos) << refusal;
    for (const ToyRow& row : Toys()) EXPECT_NE(refusal.find(row.name), std::string::npos);
  }
  const std::string key = Refusal("toy:markov,size=3");
  EXPECT_NE(key.find("'size'"), std::string::npos) << key;
  EXPECT_NE(key.find("length, vocab, seed"), std::string::npos) << key;
  for (const char* name :
       {"toy:markov,", "toy:markov,length", "toy:markov,length=", "toy:markov,length=0", "toy:markov,length=1,length=2",
        "toy:markov,vocab=1.5", "toy:markov,seed=-1", "toy:product,vocab=3,eos=3", "toy:joint,length=9"}) {
    EXPECT_NE(Refusal(name), "accepted") << name;
  }
}

/// The bundled models of the source tree, whatever the environment says.
class BundledTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* before = std::getenv("PUNT_MODELS_DIR");
    if (before != nullptr) before_ = before;
    setenv("PUNT_MODELS_DIR", PUNT_SOURCE_DIR "/models", 1);
  }
  void TearDown() override {
    if (before_) setenv("PUNT_MODELS_DIR", before_->c_str(), 1);
    if (!before_) unsetenv("PUNT_MODELS_DIR");
  }

 private:
  std::optional<std::string> before_;
};

TEST(OpenModelTest, SaysHowFarItIs) {
  for (const bool repack : {true, false}) {
    for (const char* file : {"stories.gguf", "membrane.gguf"}) {
      std::vector<double> shares;
      ModelOptions options{.repack = repack};
      options.on_progress = [&](double share) {
        shares.push_back(share);
        return true;
      };
      OpenModel(std::string(PUNT_SOURCE_DIR "/models/") + file, options);
      ASSERT_FALSE(shares.empty());
      EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
      EXPECT_EQ(shares.back(), 1.0) << file;
      EXPECT_TRUE(!repack || shares.size() > 10) << "not in one go";
    }
  }
}

TEST(OpenModelTest, EndsWhenNobodyWantsToGoOn) {
  int calls = 0;
  const ModelOptions options{.on_progress = [&](double) { return ++calls < 3; }};
  const std::string said =
      ErrorOf([&] { OpenModel(PUNT_SOURCE_DIR "/models/stories.gguf", options); }, ErrorCode::kFailed);
  EXPECT_NE(said.find("cancelled"), std::string::npos) << said;
  EXPECT_EQ(calls, 3) << "nobody is asked again";
}

TEST_F(BundledTest, OnlyThoseThatFillMasksAreOffered) {
  const std::string refusal = Refusal("storys");
  EXPECT_NE(
      refusal.find("unknown model 'storys' (did you mean stories?); valid: membrane, stories, sudoku, tasks, a GGUF"),
      std::string::npos)
      << refusal;
  EXPECT_EQ(refusal.find("stories15m"), std::string::npos) << refusal;
}

TEST_F(BundledTest, AnAutoregressiveFileIsNamedAsSuch) {
  const std::string refusal = Refusal("stories15m");
  EXPECT_NE(refusal.find("it is autoregressive (llama) and fills no masks; it serves as a judge"), std::string::npos)
      << refusal;
}

}  // namespace
}  // namespace punt
