// Folders as they are published and re-published: with heads of other tasks, classes of their own, missing fields.
#include <gtest/gtest.h>

#include "weights/hf_folder.h"
#include "weights/weights_testing.h"

namespace punt {
namespace {

using testing::ExpectError;
using testing::GoldenCopy;

std::string ArchitectureOf(const GoldenCopy& folder) {
  return OpenHfFolder(folder.path())->metadata().String("general.architecture");
}

TEST(RealCheckpoints, UnknownTensorsAreNamedInOneLineAndLeftOut) {
  GoldenCopy folder("bert");
  EXPECT_TRUE(OpenHfFolder(folder.path())->warnings().empty());
  const std::size_t tensors = OpenHfFolder(folder.path())->tensors().size();
  folder.Add("cls.chain.weight", {2, 64});  // AntiBERTy's
  folder.Add("cls.chain.bias", {2});
  const auto source = OpenHfFolder(folder.path());
  EXPECT_EQ(source->tensors().size(), tensors);
  ASSERT_EQ(source->warnings().size(), 1u);
  const std::string warning = source->warnings()[0];
  for (const char* part : {"model.safetensors", "'bert'", "cls.chain.bias, cls.chain.weight"}) {
    EXPECT_NE(warning.find(part), warning.npos) << warning;
  }
  EXPECT_EQ(warning.find('\n'), warning.npos);
}

TEST(RealCheckpoints, OfManyUnknownTensorsTheFirstAreNamed) {
  GoldenCopy folder("bert");
  for (int i = 10; i < 30; ++i) folder.Add("vision." + std::to_string(i), {3});
  const auto source = OpenHfFolder(folder.path());
  ASSERT_EQ(source->warnings().size(), 1u);
  EXPECT_NE(source->warnings()[0].find("vision.10, vision.11"), std::string::npos);
  EXPECT_NE(source->warnings()[0].find("vision.17 and 12 more"), std::string::npos) << source->warnings()[0];
}

TEST(RealCheckpoints, HeadsThatAreKnownToBeOfNoUseAreNotNamed) {
  GoldenCopy folder("bert");
  folder.Add("bert.pooler.dense.weight.2", {2});
  folder.Add("cls.seq_relationship.bias.2", {2});
  folder.Add("bert.embeddings.position_ids", {1, 128});
  EXPECT_TRUE(OpenHfFolder(folder.path())->warnings().empty());
}

TEST(RealCheckpoints, MissingAndMisshapenTensorsAreErrors) {
  GoldenCopy folder("bert");
  folder.Rename("bert.encoder.layer.1.output.dense.bias", "bert.encoder.layer.1.output.dense.bass");
  ExpectError([&] { OpenHfFolder(folder.path()); },
              {"model.safetensors", "'bert.encoder.layer.1.output.dense.bias' is missing"});
  folder.Add("bert.encoder.layer.1.output.dense.bias", {65});
  ExpectError([&] { OpenHfFolder(folder.path()); }, {"output.dense.bias", "[65]", "[64]"});
}

TEST(RealCheckpoints, TheModelTypeDecidesWhereNoClassIsKnown) {
  for (const char* name : {"bert", "distilbert", "esm2", "dream", "llada", "llada2_moe"}) {
    GoldenCopy folder(name);
    const std::string architecture = ArchitectureOf(folder);
    folder.Set("architectures", {"MyOwnFineTune"});
    EXPECT_EQ(ArchitectureOf(folder), architecture);
    folder.Set("architectures", nullptr);
    EXPECT_EQ(ArchitectureOf(folder), architecture);
  }
  GoldenCopy folder("dream");
  folder.Set("model_type", "unheard-of");
  EXPECT_EQ(ArchitectureOf(folder), "dream");  // its class says so
  folder.Set("architectures", nullptr);
  ExpectError([&] { OpenHfFolder(folder.path()); }, {"config.json", "unheard-of", "supported"});
}

// Its tensors are those of LLaDA2.0, and would load.
TEST(RealCheckpoints, Llada22IsRefused) {
  GoldenCopy folder("llada2_moe");
  folder.Set("expert_capacity", 0);
  EXPECT_EQ(ArchitectureOf(folder), "llada2-moe");
  folder.Set("expert_capacity", 6);
  ExpectError([&] { OpenHfFolder(folder.path()); }, {"config.json", "expert_capacity is 6", "LLaDA2.2"});
}

TEST(RealCheckpoints, AKnownClassComesBeforeTheModelType) {
  GoldenCopy folder("llada_moe");
  folder.Set("model_type", "llada");
  EXPECT_EQ(ArchitectureOf(folder), "llada-moe");
}

TEST(RealCheckpoints, DplmIsEsm2) {
  GoldenCopy folder("esm2");
  folder.Set("architectures", {"EsmForDPLM"});
  EXPECT_EQ(ArchitectureOf(folder), "esm2");
}

// Those of GenMol, and of other training programs.
TEST(RealCheckpoints, NamesMayHaveAPrefix) {
  GoldenCopy folder("bert");
  const auto plain = OpenHfFolder(testing::kGolden / "bert");
  folder.Add("bert.pooler.dense.bias.2", {2});
  folder.PutBefore("backbone.");
  const auto source = OpenHfFolder(folder.path());
  EXPECT_TRUE(source->warnings().empty());
  ASSERT_EQ(source->tensors().size(), plain->tensors().size());
  for (std::size_t i = 0; i < plain->tensors().size(); ++i) {
    EXPECT_EQ(testing::Values(*source, i), testing::Values(*plain, i)) << plain->tensors()[i].name;
  }
  folder.Rename("backbone.bert.encoder.layer.1.output.dense.bias", "backbone.bert.encoder.layer.1.output.dense.bass");
  ExpectError([&] { OpenHfFolder(folder.path()); }, {"'backbone.bert.encoder.layer.1.output.dense.bias' is missing"});
}

TEST(RealCheckpoints, StableDiffcoderIsALlamaWithItsOwnCode) {
  GoldenCopy folder("stable_diffcoder");
  EXPECT_EQ(ArchitectureOf(folder), "stable-diffcoder");
  folder.Set("auto_map", nullptr);
  ExpectError([&] { OpenHfFolder(folder.path()); }, {"config.json", "LlamaForCausalLM", "not supported"});
}

TEST(RealCheckpoints, HeadsAreTiedWhereTheCheckpointHasNone) {
  GoldenCopy folder("dream");
  const auto has_head = [&] { return OpenHfFolder(folder.path())->Find("output.weight") >= 0; };
  folder.Set("tie_word_embeddings", nullptr);
  EXPECT_TRUE(has_head());
  folder.Rename("lm_head.weight", "lm_hat.weight");
  EXPECT_FALSE(has_head());
  folder.Set("tie_word_embeddings", true);
  EXPECT_FALSE(has_head());
  folder.Set("tie_word_embeddings", false);
  ExpectError([&] { OpenHfFolder(folder.path()); }, {"'lm_head.weight' is missing"});
}

TEST(RealCheckpoints, HeadsOfMaskedModelsAreTiedUnlessTheConfigSaysOtherwise) {
  GoldenCopy folder("bert");
  folder.Add("cls.predictions.decoder.weight", {400, 64});
  EXPECT_EQ(OpenHfFolder(folder.path())->Find("output.weight"), -1);
  EXPECT_TRUE(OpenHfFolder(folder.path())->warnings().empty());
  folder.Set("tie_word_embeddings", false);
  EXPECT_GE(OpenHfFolder(folder.path())->Find("output.weight"), 0);
}

TEST(RealCheckpoints, NewerFilesKeepTheBaseOfRopeInAnObject) {
  GoldenCopy folder("dream");
  const auto base = [&] { return OpenHfFolder(folder.path())->metadata().Real("dream.rope.freq_base"); };
  folder.Set("rope_theta", nullptr);
  EXPECT_EQ(base(), 10'000);
  folder.Set("rope_parameters", {{"rope_type", "default"}, {"rope_theta", 5e5}});
  EXPECT_EQ(base(), 5e5);
  folder.Set("rope_parameters", {{"rope_type", "yarn"}, {"rope_theta", 5e5}});
  ExpectError([&] { OpenHfFolder(folder.path()); }, {"rope_parameters", "yarn"});
  folder.Set("rope_parameters", nullptr);
  folder.Set("rope_scaling", {{"type", "linear"}, {"factor", 2}});
  ExpectError([&] { OpenHfFolder(folder.path()); }, {"rope_scaling", "linear"});
}

}  // namespace
}  // namespace punt
