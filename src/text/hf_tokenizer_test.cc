#include "text/hf_tokenizer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/error_testing.h"
#include "punt/error.h"
#include "text/hf_vocabulary.h"
#include "text/vocabulary.h"

namespace punt {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Tokens = std::vector<Token>;

fs::path Golden(const std::string& name) { return fs::path(PUNT_SOURCE_DIR) / "tests/golden" / name; }

/// A folder of its own for each test.
class HfTokenizerTest : public testing::Test {
 protected:
  HfTokenizerTest() : folder_(fs::temp_directory_path() / ("punt_hf_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~HfTokenizerTest() override { fs::remove_all(folder_); }

  void Write(const char* name, const std::string& text) { std::ofstream(folder_ / name, std::ios::binary) << text; }
  Metadata Convert() {
    Metadata metadata(GgufPtr(gguf_init_empty()), "folder");
    AddHfTokenizer(folder_, metadata);
    return metadata;
  }

  fs::path folder_;
};

Json GoldenJson(const std::string& name, const char* file) { return Json::parse(ReadWholeFile(Golden(name) / file)); }

TEST_F(HfTokenizerTest, WithoutTokenizerFilesNothingIsAdded) {
  Write("config.json", R"({"vocab_size": 5})");
  EXPECT_EQ(gguf_get_n_kv(Convert().raw()), 0);
}

TEST_F(HfTokenizerTest, KeysOfLlada) {
  Metadata metadata(GgufPtr(gguf_init_empty()), "llada");
  AddHfTokenizer(Golden("llada"), metadata);
  EXPECT_EQ(metadata.String("tokenizer.ggml.model"), "gpt2");
  EXPECT_EQ(metadata.String("tokenizer.ggml.pre"), "bailingmoe");
  EXPECT_EQ(metadata.String("punt.tokenizer.normalizer"), "nfc");
  EXPECT_EQ(metadata.Integer("tokenizer.ggml.bos_token_id"), 288);
  EXPECT_EQ(metadata.Integer("tokenizer.ggml.eos_token_id"), 289);
  EXPECT_EQ(metadata.Integer("tokenizer.ggml.eot_token_id"), 318);
  EXPECT_EQ(metadata.Integer("tokenizer.ggml.padding_token_id"), 289);
  EXPECT_EQ(metadata.Integer("tokenizer.ggml.mask_token_id"), 314);
  EXPECT_FALSE(metadata.Boolean("tokenizer.ggml.add_bos_token"));
  EXPECT_EQ(metadata.Strings("tokenizer.ggml.merges").at(2), "\xc4\xa0t he");
  const auto tokens = metadata.Strings("tokenizer.ggml.tokens");
  const auto kinds = metadata.Integers("tokenizer.ggml.token_type");
  ASSERT_EQ(tokens.size(), 320u);
  EXPECT_EQ(tokens[319], "[PAD319]");  // vocab_size leaves room
  EXPECT_EQ(tokens[300], "[PAD300]");  // a gap
  EXPECT_EQ(kinds[319], 5);
  EXPECT_EQ(kinds[300], 5);
  EXPECT_EQ(kinds[314], 3);
  EXPECT_EQ(kinds[0], 1);
  EXPECT_NE(metadata.String("tokenizer.chat_template").find("bos_token"), std::string::npos);
}

TEST_F(HfTokenizerTest, KeysOfDream) {
  Metadata metadata(GgufPtr(gguf_init_empty()), "dream");
  AddHfTokenizer(Golden("dream"), metadata);
  EXPECT_EQ(metadata.String("tokenizer.ggml.pre"), "qwen2");
  EXPECT_EQ(metadata.Integers("tokenizer.ggml.token_type").at(291), 4);  // <tool_call> is not special
}

TEST_F(HfTokenizerTest, VocabTxtGivesWhatTokenizerJsonGives) {
  for (const char* name : {"bert", "distilbert"}) {
    Metadata from_json(GgufPtr(gguf_init_empty()), name);
    AddHfTokenizer(Golden(name), from_json);
    fs::copy_file(Golden(name) / "vocab.txt", folder_ / "vocab.txt", fs::copy_options::overwrite_existing);
    Metadata from_list = Convert();
    for (const char* key : {"tokenizer.ggml.tokens"}) EXPECT_EQ(from_json.Strings(key), from_list.Strings(key));
    EXPECT_EQ(from_json.Integers("tokenizer.ggml.token_type"), from_list.Integers("tokenizer.ggml.token_type"));
    EXPECT_EQ(from_list.Integer("tokenizer.ggml.mask_token_id"), 103);
  }
}

TEST_F(HfTokenizerTest, VocabJsonAndMergesGiveWhatTokenizerJsonGives) {
  Metadata from_json(GgufPtr(gguf_init_empty()), "dream");
  AddHfTokenizer(Golden("dream"), from_json);
  for (const char* file : {"vocab.json", "merges.txt", "added_tokens.json", "config.json"}) {
    fs::copy_file(Golden("dream") / file, folder_ / file);
  }
  Metadata from_files = Convert();
  for (const char* key : {"tokenizer.ggml.tokens", "tokenizer.ggml.merges"}) {
    EXPECT_EQ(from_json.Strings(key), from_files.Strings(key));
  }
  EXPECT_EQ(from_json.Integers("tokenizer.ggml.token_type"), from_files.Integers("tokenizer.ggml.token_type"));
  for (const char* key : {"tokenizer.ggml.pre", "punt.tokenizer.normalizer"}) {
    EXPECT_EQ(from_json.String(key), from_files.String(key));
  }
  Write("tokenizer_config.json", R"({"tokenizer_class": "OddTokenizer"})");
  EXPECT_NE(ErrorOf([&] { Convert(); }).find("tokenizer_class: 'OddTokenizer' without"), std::string::npos);
}

TEST_F(HfTokenizerTest, RobertasFilesMarkItsSpecialTokens) {
  Json vocab = {{"<s>", 0}, {"<pad>", 1}, {"</s>", 2}, {"<unk>", 3}, {"<mask>", 4}, {"a", 5},
                {"b", 6},   {"ab", 7},    {"<", 8},    {"s", 9},     {">", 10}};
  Write("vocab.json", vocab.dump());
  Write("merges.txt", "#version: 0.2\na b\n");
  Write("config.json", R"({"model_type": "roberta", "bos_token_id": 0, "eos_token_id": 2, "pad_token_id": 1})");
  const Vocabulary vocabulary = OpenVocabulary(Convert());
  EXPECT_EQ(vocabulary.tokenizer->Encode("abab"), (Tokens{7, 7}));
  EXPECT_EQ(vocabulary.tokenizer->Prefix(), Tokens{0});
  EXPECT_EQ(vocabulary.tokenizer->Suffix(), Tokens{2});
  EXPECT_EQ(vocabulary.mask_token, 4);
  EXPECT_EQ(vocabulary.tokenizer->Encode("a<s>"), (Tokens{5, 8, 9, 10}));  // written by a user: text
  EXPECT_EQ(vocabulary.tokenizer->Encode("a<mask>", {.specials = true}), (Tokens{5, 4}));
}

TEST_F(HfTokenizerTest, CasedWordPiece) {
  Write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nA\na\n\xc3\xa9\n##a\n");
  Write("tokenizer_config.json", R"({"do_lower_case": false})");
  const Vocabulary vocabulary = OpenVocabulary(Convert());
  EXPECT_EQ(vocabulary.tokenizer->Encode("A a Aa \xc3\xa9 e[MASK]", {.specials = true}), (Tokens{5, 6, 5, 8, 7, 1, 4}));
  EXPECT_EQ(vocabulary.tokenizer->Decode(Tokens{5, 8, 7}), "Aa \xc3\xa9");
  EXPECT_EQ(vocabulary.tokenizer->Encode("A" + std::string(100, 'a')), Tokens{1});  // more than 100 characters
  EXPECT_EQ(vocabulary.tokenizer->Encode("A" + std::string(99, 'a')).size(), 100u);
}

TEST_F(HfTokenizerTest, ACasedVocabularyIsNotLowered) {
  constexpr const char* kSpecials = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  Write("vocab.txt", std::string(kSpecials) + "Paris\nparis\n\xc3\xa9t\xc3\xa9\n##s\n");
  EXPECT_EQ(OpenVocabulary(Convert()).tokenizer->Encode("Paris \xc3\xa9t\xc3\xa9"), (Tokens{5, 7}));
  Write("tokenizer_config.json", R"({"do_lower_case": true})");  // has the last word
  EXPECT_EQ(OpenVocabulary(Convert()).tokenizer->Encode("Paris"), Tokens{6});
  Write("tokenizer_config.json", "{}");
  Write("vocab.txt", std::string(kSpecials) + "paris\n##s\n[Unused]\n");
  EXPECT_EQ(OpenVocabulary(Convert()).tokenizer->Encode("PARIS"), Tokens{5});
}

// vocab.txt of AntiBERTy and of rxnfp, without any other file.
TEST_F(HfTokenizerTest, VocabulariesOfLettersAreRecognised) {
  Write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nA\nC\nD\nE\n");
  const Vocabulary proteins = OpenVocabulary(Convert());
  EXPECT_EQ(proteins.tokenizer->Encode("ACDe A"), (Tokens{5, 6, 7, 8, 5}));
  EXPECT_EQ(proteins.tokenizer->Prefix(), Tokens{2});
  EXPECT_EQ(proteins.tokenizer->Suffix(), Tokens{3});
  EXPECT_EQ(proteins.eos_tokens, Tokens{3});
  EXPECT_EQ(proteins.mask_token, 4);
  EXPECT_THROW(proteins.tokenizer->Encode("AX"), Error);
  Write("vocab.txt", "[PAD]\n[unused1]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nc\nC\nCl\n[C@@H]\n>>\n%10\n(\n");
  Write("tokenizer_config.json", "{}");
  EXPECT_EQ(OpenVocabulary(Convert()).tokenizer->Encode("Clc>>[C@@H](C%10"), (Tokens{8, 6, 10, 9, 12, 7, 11}));
  Write("vocab.txt", "<pad>\n<mask>\n<cls>\n<sep>\n<unk>\nA\nB\nC\n");  // TAPE's
  EXPECT_EQ(OpenVocabulary(Convert()).tokenizer->Suffix(), Tokens{3});
  EXPECT_EQ(OpenVocabulary(Convert()).mask_token, 1);
}

// The form of ESM C's tokenizer.json, and of SAFE's, which GenMol has.
TEST_F(HfTokenizerTest, TokenizerJsonOfLetters) {
  Json json = {
      {"model",
       {{"type", "BPE"},
        {"vocab",
         {{"<cls>", 0}, {"<pad>", 1}, {"<eos>", 2}, {"<unk>", 3}, {"L", 4}, {"A", 5}, {"|", 6}, {"<mask>", 7}}},
        {"merges", Json::array()}}},
      {"added_tokens", Json::array({{{"id", 7}, {"content", "<mask>"}, {"special", true}},
                                    {{"id", 2}, {"content", "<eos>"}, {"special", true}},
                                    {{"id", 6}, {"content", "|"}, {"special", true}}})}};
  Write("tokenizer.json", json.dump());
  const Vocabulary proteins = OpenVocabulary(Convert());
  EXPECT_EQ(proteins.tokenizer->Encode("LAal"), (Tokens{4, 5, 5, 4}));
  EXPECT_EQ(proteins.tokenizer->Prefix(), Tokens{0});
  EXPECT_EQ(proteins.tokenizer->Suffix(), Tokens{2});
  EXPECT_EQ(proteins.mask_token, 7);
  EXPECT_THROW(proteins.tokenizer->Encode("L|A"), Error);

  json["custom_pre_tokenizer"] = true;
  json["pre_tokenizer"] = {{"type", "Whitespace"}};
  json["model"]["vocab"] = {{"[UNK]", 0}, {"[CLS]", 1}, {"[SEP]", 2}, {"[PAD]", 3}, {"[MASK]", 4}, {"C", 5},
                            {"l", 6},     {"Cl", 7},    {"[", 8},     {"n", 9},     {"H", 10},     {"]", 11},
                            {"[n", 12},   {"H]", 13},   {"[nH]", 14}, {".", 15}};
  json["model"]["merges"] = {"C l", "[ n", "H ]", "[n H]"};
  json["added_tokens"] = Json::array({{{"id", 4}, {"content", "[MASK]"}, {"special", true}},
                                      {{"id", 1}, {"content", "[CLS]"}, {"special", true}},
                                      {{"id", 2}, {"content", "[SEP]"}, {"special", true}}});
  Write("tokenizer.json", json.dump());
  const Vocabulary molecules = OpenVocabulary(Convert());
  EXPECT_EQ(molecules.tokenizer->Encode("CCl.[nH]C"), (Tokens{5, 7, 15, 14, 5}));
  EXPECT_EQ(molecules.tokenizer->Suffix(), Tokens{2});
  EXPECT_EQ(molecules.mask_token, 4);
  json["custom_pre_tokenizer"] = false;
  Write("tokenizer.json", json.dump());
  EXPECT_NE(ErrorOf([&] { Convert(); }).find("must end in ByteLevel"), std::string::npos);
}

TEST_F(HfTokenizerTest, TheMasksOfReleasedModelsAreKnownByName) {
  for (const char* name : {"<|MASK|>", "|<MASK>|", "<[MASK_TOKEN]>"}) {
    Json json = GoldenJson("llada", "tokenizer.json");
    json["added_tokens"] = Json::array({{{"id", 311}, {"content", name}, {"special", true}}});
    Write("tokenizer.json", json.dump());
    EXPECT_EQ(OpenVocabulary(Convert()).mask_token, 311) << name;
  }
}

TEST_F(HfTokenizerTest, LettersMayBeWrittenInBrackets) {
  Write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nC\nCl\nc\n[Na+]\n>>\n");
  Write("tokenizer_config.json", R"({"tokenizer_class": "EsmTokenizer", "cls_token": "[CLS]", "eos_token": "[SEP]"})");
  const Vocabulary vocabulary = OpenVocabulary(Convert());
  EXPECT_EQ(vocabulary.tokenizer->Encode("ClC[Na+]>>cC"), (Tokens{6, 5, 8, 9, 7, 5}));
  EXPECT_THROW(vocabulary.tokenizer->Encode("C[MASK]"), Error);  // a special token is no text
  EXPECT_EQ(vocabulary.tokenizer->Encode("C[MASK]", {.specials = true}), (Tokens{5, 4}));
  EXPECT_TRUE(vocabulary.tokenizer->IsControl(1));
  EXPECT_FALSE(vocabulary.tokenizer->IsControl(8));
}

TEST_F(HfTokenizerTest, WithoutAMaskTokenThereIsNone) {
  Json json = GoldenJson("llada", "tokenizer.json");
  json["added_tokens"] = Json::array();
  Write("tokenizer.json", json.dump());
  EXPECT_EQ(OpenVocabulary(Convert()).mask_token, -1);
}

TEST_F(HfTokenizerTest, ATemplateProcessorSetsTheEnds) {
  Json json = GoldenJson("llada", "tokenizer.json");
  json["post_processor"] = Json::parse(R"({"type": "TemplateProcessing", "single": [
      {"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
      {"SpecialToken": {"id": "[gMASK]", "type_id": 0}}]})");
  Write("tokenizer.json", json.dump());
  const Vocabulary vocabulary = OpenVocabulary(Convert());
  EXPECT_EQ(vocabulary.tokenizer->Prefix(), Tokens{290});
  EXPECT_EQ(vocabulary.tokenizer->Suffix(), Tokens{291});
}

TEST_F(HfTokenizerTest, BrokenTokenizerJsonIsRefused) {
  const Json good = GoldenJson("llada", "tokenizer.json");
  const struct {
    std::function<void(Json&)> damage;
    const char* words;
  } cases[] = {
      {[](Json& j) { j.erase("model"); }, "tokenizer.json: model: is missing"},
      {[](Json& j) { j["model"] = 3; }, "model: must be an object"},
      {[](Json& j) { j["model"].erase("vocab"); }, "model.vocab: is missing"},
      {[](Json& j) { j["model"]["vocab"] = Json::object(); }, "names the unknown token"},
      {[](Json& j) { j["model"]["type"] = "Unigram"; }, "model.type: 'Unigram' is not supported"},
      {[](Json& j) { j["model"]["vocab"]["zz"] = -1; }, "token 'zz' has the id -1"},
      {[](Json& j) { j["model"]["vocab"]["zz"] = 99999999999; }, "token 'zz' has the id 99999999999"},
      {[](Json& j) { j["model"]["vocab"]["zz"] = 1.5; }, "model.vocab.zz: must be a whole number"},
      {[](Json& j) { j["model"]["vocab"]["zz"] = 7; }, "have the same id 7"},
      {[](Json& j) { j["model"]["vocab"][""] = 319; }, "token 319 is empty"},
      {[](Json& j) { j["model"]["vocab"][std::string("a\0", 2)] = 319; }, "token 319 holds a zero byte"},
      {[](Json& j) { j["model"]["merges"][1] = "qq h"; }, "model.merges[1]: names the unknown token 'qq'"},
      {[](Json& j) { j["model"]["merges"][1] = "he"; }, "model.merges[1]: 'he' is not a pair"},
      {[](Json& j) { j["model"]["merges"][1] = Json::array({"h"}); }, "model.merges[1]: must be a pair"},
      {[](Json& j) { j["model"]["merges"] = "h e"; }, "model.merges: must be an array"},
      {[](Json& j) { j["model"]["byte_fallback"] = true; }, "model.byte_fallback"},
      {[](Json& j) { j["model"]["ignore_merges"] = true; }, "model.ignore_merges"},
      {[](Json& j) { j["added_tokens"][0]["id"] = 3; }, "have the same id 3"},
      {[](Json& j) { j["added_tokens"][0].erase("content"); }, "added_tokens[0].content: is missing"},
      {[](Json& j) { j["added_tokens"][1]["content"] = "[CLS]"; }, "token '[CLS]' has the ids 289 and 290"},
      {[](Json& j) { j["normalizer"]["type"] = "NFKC"; }, "normalizer.type: 'NFKC' is not supported"},
      {[](Json& j) { j["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = "x+"; },
       "the pattern /x+/ is not supported; supported: qwen2 /"},
      {[](Json& j) { j["pre_tokenizer"] = nullptr; }, "pre_tokenizer: is missing"},
      {[](Json& j) { j["post_processor"]["type"] = "Odd"; }, "post_processor.type: 'Odd' is not supported"},
  };
  for (const auto& item : cases) {
    Json bad = good;
    item.damage(bad);
    const std::string refusal = ErrorOf([&] { ParseTokenizerJson(bad.dump(), "tokenizer.json"); });
    EXPECT_NE(refusal.find(item.words), std::string::npos) << refusal << ", wanted " << item.words;
  }
}

TEST_F(HfTokenizerTest, GarbageIsRefused) {
  const std::string good = GoldenJson("llada", "tokenizer.json").dump();
  for (std::size_t length = 0; length < good.size(); length += 997) {
    const std::string refusal = ErrorOf([&] { ParseTokenizerJson(good.substr(0, length), "tokenizer.json"); });
    EXPECT_EQ(refusal, "tokenizer.json: not valid JSON") << length;
  }
  for (const char* text : {"[]", "3", "null", "\"\""}) {
    EXPECT_EQ(ErrorOf([&] { ParseTokenizerJson(text, "f"); }), "f: must be a JSON object");
  }
  EXPECT_EQ(ErrorOf([&] { ParseTokenizerJson("{\"model\": {\"vocab\": {\"\xff\": 1}}}", "f"); }), "f: not valid JSON");
}

TEST_F(HfTokenizerTest, FilesThatContradictEachOtherAreRefused) {
  fs::copy_file(Golden("llada") / "tokenizer.json", folder_ / "tokenizer.json");
  const auto refused = [&](const char* file, const std::string& text) {
    Write(file, text);
    const std::string refusal = ErrorOf([&] { Convert(); });
    fs::remove(folder_ / file);
    return refusal;
  };
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"config.json", R"({"mask_token_id": 5000})", "config.json: mask_token_id: 5000 lies outside"},
      {"config.json", R"({"mask_token_id": "5"})", "config.json: mask_token_id: must be a whole number"},
      {"config.json", R"({"vocab_size": 10})", "config.json: vocab_size: 10 does not fit the 319 tokens"},
      {"config.json", R"({"vocab_size": 1000000000000})", "vocab_size: 1000000000000 does not fit"},
      {"config.json", "{", "config.json: not valid JSON"},
      {"tokenizer_config.json", R"({"eos_token": "nobody"})", "eos_token: names the unknown token 'nobody'"},
      {"tokenizer_config.json", R"({"add_bos_token": true})", "add_bos_token: is true, but no bos_token is named"},
      {"tokenizer_config.json", R"({"chat_template": 3})", "chat_template: must be a string"},
      {"tokenizer_config.json", R"({"chat_template": []})", "chat_template: has no template named 'default'"},
  };
  for (const auto& [file, text, words] : cases) {
    const std::string refusal = refused(file, text);
    EXPECT_NE(refusal.find(words), std::string::npos) << refusal << ", wanted " << words;
  }
}

TEST_F(HfTokenizerTest, BrokenVocabTxtIsRefused) {
  for (const auto& [text, words] :
       {std::pair{"a\nb\na\n", "token 'a' has the ids 0 and 2"}, std::pair{"a\n\nb\n", "token 1 is empty"},
        std::pair{"", "has no tokens"}, std::pair{"a\n\xff\n", "not valid UTF-8 at byte 2"}}) {
    Write("vocab.txt", text);
    const std::string refusal = ErrorOf([&] { Convert(); });
    EXPECT_NE(refusal.find(std::string("vocab.txt: ") + words), std::string::npos) << refusal;
  }
}

}  // namespace
}  // namespace punt
