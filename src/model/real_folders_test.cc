// Folders as they are published, opened as models: what weights/real_checkpoints_test.cc checks of their tensors, and
// their tokenizers, put together.
#include <gtest/gtest.h>

#include "model/golden_testing.h"
#include "text/vocabulary.h"
#include "weights/weights_testing.h"

namespace punt {
namespace {

using testing::GoldenCopy;
using testing::WriteAll;
using Tokens = std::vector<Token>;

double ErrorOf(const GoldenCopy& folder, const std::string& golden, std::vector<std::string>* warnings = nullptr) {
  const Network network(OpenModelFiles(folder.path()), {.device = "cpu"});
  if (warnings != nullptr) *warnings = network.warnings();
  return WorstError(GoldenRows(network, {golden.c_str(), golden.c_str(), golden.c_str()}));
}

void RemoveTokenizer(const GoldenCopy& folder) {
  for (const char* name : {"tokenizer.json", "tokenizer_config.json", "vocab.txt", "special_tokens_map.json"}) {
    std::filesystem::remove(folder.path() / name);
  }
}

// AntiBERTy: a class of its own, heads of its own, and a list of letters.
TEST(RealFolders, Antiberty) {
  GoldenCopy folder("bert");
  RemoveTokenizer(folder);
  folder.Set("architectures", {"AntiBERTy"});
  folder.Add("cls.species.weight", {6, 64});
  folder.Add("cls.chain.bias", {2});
  WriteAll(folder.path() / "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nA\nC\nD\n");
  std::vector<std::string> warnings;
  EXPECT_LE(ErrorOf(folder, "bert", &warnings), kLogitBound);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("cls.chain.bias, cls.species.weight"), std::string::npos) << warnings[0];
  const Vocabulary vocabulary = OpenVocabulary(OpenModelFiles(folder.path())->metadata());
  EXPECT_EQ(vocabulary.tokenizer->Encode("ACDA"), (Tokens{5, 6, 7, 5}));
}

// Dream-Coder: Dream's class and type, with a token of its own for the beginning of a text.
TEST(RealFolders, DreamCoder) {
  GoldenCopy folder("dream");
  folder.Set("bos_token_id", 310);
  folder.Set("max_position_embeddings", 256);
  folder.Set("transformers_version", "4.48.1");
  std::vector<std::string> warnings;
  EXPECT_LE(ErrorOf(folder, "dream", &warnings), kLogitBound);
  EXPECT_TRUE(warnings.empty());
  const auto source = OpenModelFiles(folder.path());
  EXPECT_EQ(source->metadata().String("general.architecture"), "dream");
  EXPECT_TRUE(source->metadata().Boolean("diffusion.shift_logits"));
  const Vocabulary vocabulary = OpenVocabulary(source->metadata());
  EXPECT_EQ(vocabulary.mask_token, 311);
  EXPECT_EQ(vocabulary.length_tokens.expand, -1);
}

// DreamOn: Dream with a token that makes a text longer; the end of sequence makes it shorter.
TEST(RealFolders, DreamOn) {
  GoldenCopy folder("dream");
  for (const char* name : {"tokenizer.json", "added_tokens.json"}) {
    std::string text = testing::ReadAll(folder.path() / name);
    const auto at = text.find("\"<tool_call>\"");
    ASSERT_NE(at, text.npos) << name;
    WriteAll(folder.path() / name, text.replace(at, 13, "\"<|expand|>\""));
  }
  EXPECT_LE(ErrorOf(folder, "dream"), kLogitBound);
  const Vocabulary vocabulary = OpenVocabulary(OpenModelFiles(folder.path())->metadata());
  EXPECT_EQ(vocabulary.length_tokens.expand, 291);
  EXPECT_EQ(vocabulary.length_tokens.remove, 288);
  EXPECT_TRUE(vocabulary.tokenizer->IsControl(288));
}

// DPLM: ESM-2 under another class.
TEST(RealFolders, Dplm) {
  GoldenCopy folder("esm2");
  folder.Set("architectures", {"EsmForDPLM"});
  std::vector<std::string> warnings;
  EXPECT_LE(ErrorOf(folder, "esm2", &warnings), kLogitBound);
  EXPECT_TRUE(warnings.empty());
}

// GenMol: BERT in a training program's checkpoint, with SAFE's tokenizer.
TEST(RealFolders, GenMol) {
  GoldenCopy folder("bert");
  RemoveTokenizer(folder);
  folder.PutBefore("backbone.");
  folder.Set("architectures", nullptr);
  WriteAll(folder.path() / "tokenizer.json", R"({"custom_pre_tokenizer": true, "pre_tokenizer": {"type": "Whitespace"},
    "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
      {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}}]},
    "added_tokens": [{"id": 1, "content": "[CLS]", "special": true}, {"id": 2, "content": "[SEP]", "special": true},
      {"id": 4, "content": "[MASK]", "special": true}],
    "model": {"type": "BPE", "merges": ["C l", "[ n", "H ]", "[n H]"], "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2,
      "[PAD]": 3, "[MASK]": 4, "C": 5, "l": 6, "Cl": 7, "[": 8, "n": 9, "H": 10, "]": 11, "[n": 12, "H]": 13,
      "[nH]": 14, ".": 15}}})");
  std::vector<std::string> warnings;
  EXPECT_LE(ErrorOf(folder, "bert", &warnings), kLogitBound);
  EXPECT_TRUE(warnings.empty());
  const Vocabulary vocabulary = OpenVocabulary(OpenModelFiles(folder.path())->metadata());
  EXPECT_EQ(vocabulary.size, 400);
  EXPECT_EQ(vocabulary.mask_token, 4);
  EXPECT_EQ(vocabulary.tokenizer->Encode("CCl.[nH]C"), (Tokens{5, 7, 15, 14, 5}));
}

}  // namespace
}  // namespace punt
