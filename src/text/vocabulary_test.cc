// The shipped tokenizers against the output of the reference implementations, and metadata that must be refused.
#include "text/vocabulary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/error_testing.h"
#include "punt/error.h"
#include "text/hf_json.h"
#include "text/hf_tokenizer.h"

namespace punt {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Tokens = std::vector<Token>;

fs::path Golden(const std::string& name) { return fs::path(PUNT_SOURCE_DIR) / "tests/golden" / name; }

Metadata FolderMetadata(const fs::path& folder) {
  Metadata metadata(GgufPtr(gguf_init_empty()), folder.filename().string());
  AddHfTokenizer(folder, metadata);
  return metadata;
}

Json Vectors(const std::string& name) { return Json::parse(ReadWholeFile(Golden(name) / "tokenizer_vectors.json")); }

/// The library that made the vectors numbers added tokens one behind the other, whatever ids the file gives them. The
/// shipped files have gaps between them, as config.json and the weights have: there the file's ids are the right ones.
Tokens ByTheFile(Tokens ids, const std::string& name) {
  const Json file = Json::parse(ReadWholeFile(Golden(name) / "tokenizer.json"));
  const auto first = static_cast<Token>(file.at("model").at("vocab").size());
  for (Token& id : ids) {
    if (id >= first) id = file.at("added_tokens").at(static_cast<std::size_t>(id - first)).at("id");
  }
  return ids;
}

TEST(VocabularyTest, ByteLevelModelsAsHuggingFace) {
  for (const char* name : {"llada", "dream", "llada2_moe"}) {
    const Vocabulary vocabulary = OpenVocabulary(FolderMetadata(Golden(name)));
    const Json all = Vectors(name);
    int count = 0;
    for (const Json& vector : all.at("vectors")) {
      const std::string text = vector.at("text");
      const Tokens ids = ByTheFile(vector.at("ids"), name);
      EXPECT_EQ(vocabulary.tokenizer->Encode(text, {.specials = true}), ids) << name << ": " << text;
      const std::string back = vector.at("decoded").is_null() ? text : vector.at("decoded").get<std::string>();
      EXPECT_EQ(vocabulary.tokenizer->Decode(ids), back) << name;
      ++count;
    }
    EXPECT_EQ(count, 114) << name;
    EXPECT_EQ(vocabulary.size, 320) << name;
  }
}

TEST(VocabularyTest, WordPieceModelsAsHuggingFace) {
  for (const char* name : {"bert", "distilbert"}) {
    const Vocabulary vocabulary = OpenVocabulary(FolderMetadata(Golden(name)));
    const Tokenizer& tokenizer = *vocabulary.tokenizer;
    const Json all = Vectors(name);
    int count = 0;
    for (const Json& vector : all.at("vectors")) {
      Tokens ids = tokenizer.Prefix();
      const Tokens inner = tokenizer.Encode(vector.at("text").get<std::string>(), {.specials = true});
      ids.insert(ids.end(), inner.begin(), inner.end());
      for (Token token : tokenizer.Suffix()) ids.push_back(token);
      EXPECT_EQ(ids, vector.at("input_ids").get<Tokens>()) << vector;
      EXPECT_EQ(tokenizer.Encode(tokenizer.Decode(inner), {.specials = true}), inner) << vector;
      std::vector<std::string> pieces;
      for (Token token : inner) pieces.push_back(tokenizer.Piece(token));
      EXPECT_EQ(pieces, vector.at("tokens").get<std::vector<std::string>>());
      ++count;
    }
    EXPECT_EQ(count, 18) << name;
    EXPECT_EQ(vocabulary.mask_token, 103);
    EXPECT_EQ(vocabulary.eos_tokens, Tokens{102});
  }
}

// But for what it makes <unk>: lower case is upper case here, and a letter that is none is named.
TEST(VocabularyTest, EsmAsHuggingFace) {
  const Vocabulary vocabulary = OpenVocabulary(FolderMetadata(Golden("esm2")));
  const Tokenizer& tokenizer = *vocabulary.tokenizer;
  const Json vectors = Vectors("esm2");
  EXPECT_EQ(vectors.size(), 10u);
  for (const Json& vector : vectors) {
    const Tokens whole = vector.at("hf_EsmTokenizer");
    const auto text = vector.at("text").get<std::string>();
    if (std::find(whole.begin(), whole.end(), 3) != whole.end()) {
      EXPECT_TRUE(text == "MKJ" || text == "mkta") << text;
      continue;
    }
    EXPECT_EQ(tokenizer.Encode(text, {.specials = true}), Tokens(whole.begin() + 1, whole.end() - 1));
  }
  for (const bool specials : {false, true}) {
    EXPECT_EQ(tokenizer.Encode("mkTA", {.specials = specials}), (Tokens{20, 15, 11, 5}));
    EXPECT_EQ(ErrorOf([&] { tokenizer.Encode("MK*A", {.specials = specials}); }).substr(0, 34),
              "'*' at position 3 is not one of th");
  }
  EXPECT_EQ(tokenizer.Encode("mk<unk>t", {.specials = true}), (Tokens{20, 15, 3, 11}));
  EXPECT_EQ(tokenizer.Prefix(), Tokens{0});
  EXPECT_EQ(tokenizer.Suffix(), Tokens{2});
  EXPECT_EQ(vocabulary.mask_token, 32);
  EXPECT_EQ(tokenizer.Decode(Tokens{20, 15, 32, 2}), "MK<mask><eos>");
  EXPECT_THROW(tokenizer.EncodeChat({}), Error);
}

TEST(VocabularyTest, SpecialTokensOfTheModels) {
  const Vocabulary llada = OpenVocabulary(FolderMetadata(Golden("llada")));
  EXPECT_EQ(llada.mask_token, 314);
  EXPECT_EQ(llada.eos_tokens, (Tokens{289, 318}));
  EXPECT_TRUE(llada.has_chat_template);
  EXPECT_TRUE(llada.tokenizer->Prefix().empty());  // tokenizer_config.json says so
  const Vocabulary dream = OpenVocabulary(FolderMetadata(Golden("dream")));
  EXPECT_EQ(dream.mask_token, 311);
  EXPECT_EQ(dream.eos_tokens, (Tokens{288, 290}));
  EXPECT_FALSE(dream.has_chat_template);
  const Vocabulary llada2 = OpenVocabulary(FolderMetadata(Golden("llada2_moe")));
  EXPECT_EQ(llada2.mask_token, 314);
  EXPECT_EQ(llada2.eos_tokens, (Tokens{289, 315}));
}

TEST(VocabularyTest, ChatBeginsWithOneBos) {
  const ChatMessage messages[] = {{"user", " Hi \n"}, {"assistant", "ok"}, {"user", "a"}};
  const std::string want =
      "<|startoftext|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
      "<|start_header_id|>assistant<|end_header_id|>\n\nok<|eot_id|>"
      "<|start_header_id|>user<|end_header_id|>\n\na<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n";
  Metadata metadata = FolderMetadata(Golden("llada"));
  for (bool add_bos : {false, true}) {
    gguf_set_val_bool(metadata.raw(), "tokenizer.ggml.add_bos_token", add_bos);
    const Vocabulary vocabulary = OpenVocabulary(metadata);
    const Tokens tokens = vocabulary.tokenizer->EncodeChat(messages);
    EXPECT_EQ(vocabulary.tokenizer->Decode(tokens), want);
    EXPECT_EQ(std::count(tokens.begin(), tokens.end(), 288), 1);
    EXPECT_EQ(vocabulary.tokenizer->Prefix(), add_bos ? Tokens{288} : Tokens{});
  }
}

TEST(VocabularyTest, ChatWritesTheTemplatesOwnSystemMessage) {
  Metadata metadata = FolderMetadata(Golden("dream"));
  gguf_set_val_str(
      metadata.raw(), "tokenizer.chat_template",
      "{% if messages[0].role != 'system' %}{{ '<|im_start|>system\\nBe kind.<|im_end|>\\n' }}{% endif %}"
      "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% endfor %}"
      "{{ '<|im_start|>assistant\\n' }}");
  const Vocabulary vocabulary = OpenVocabulary(metadata);
  const ChatMessage user{"user", "a"};
  EXPECT_EQ(vocabulary.tokenizer->Decode(vocabulary.tokenizer->EncodeChat({&user, 1})),
            "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n");
  const ChatMessage both[] = {{"system", "No."}, {"user", "a"}};
  EXPECT_EQ(vocabulary.tokenizer->Decode(vocabulary.tokenizer->EncodeChat(both)),
            "<|im_start|>system\nNo.<|im_end|>\n<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n");
}

TEST(VocabularyTest, ChatRefusals) {
  Metadata metadata = FolderMetadata(Golden("llada"));
  const ChatMessage zero{"user", std::string("a\0b", 3)};
  const ChatMessage user{"user", "a"};
  const Vocabulary llada = OpenVocabulary(metadata);
  EXPECT_NE(ErrorOf([&] { llada.tokenizer->EncodeChat({}); }).find("empty"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { llada.tokenizer->EncodeChat({&zero, 1}); }).find("zero byte"), std::string::npos);
  gguf_set_val_str(metadata.raw(), "tokenizer.chat_template", "{{ raise_exception('not today') }}");
  const Vocabulary other = OpenVocabulary(metadata);
  EXPECT_NE(ErrorOf([&] { other.tokenizer->EncodeChat({&user, 1}); }).find("not today"), std::string::npos);
  const Vocabulary none = OpenVocabulary(FolderMetadata(Golden("dream")));
  EXPECT_EQ(ErrorOf([&] { none.tokenizer->EncodeChat({&user, 1}); }), "this model has no chat template");
}

TEST(VocabularyTest, BadTextsAndTokensAreNamed) {
  for (const char* name : {"llada", "bert", "esm2"}) {
    const Vocabulary vocabulary = OpenVocabulary(FolderMetadata(Golden(name)));
    EXPECT_NE(ErrorOf([&] { vocabulary.tokenizer->Encode("ab\xff"); }).find("0xff at offset 2"), std::string::npos);
    for (Token bad : {-1, vocabulary.size, 1 << 30}) {
      const std::string words = "token " + std::to_string(bad) + " lies outside";
      EXPECT_NE(ErrorOf([&] { vocabulary.tokenizer->Decode(Tokens{0, bad}); }).find(words), std::string::npos);
      EXPECT_NE(ErrorOf([&] { vocabulary.tokenizer->Piece(bad); }).find(words), std::string::npos);
    }
  }
}

TEST(VocabularyTest, LongWordsDoNotOverrunTheStack) {
  const std::string word(300000, 'a');
  for (const char* name : {"llada", "dream", "bert", "esm2"}) {
    const Vocabulary vocabulary = OpenVocabulary(FolderMetadata(Golden(name)));
    EXPECT_GE(vocabulary.tokenizer->Encode(word).size(), 1u) << name;
  }
}

TEST(VocabularyTest, BytesWithoutATokenAreRefused) {
  Metadata metadata(GgufPtr(gguf_init_empty()), "tiny");
  const char* tokens[] = {"a", "b"};
  gguf_set_val_str(metadata.raw(), "tokenizer.ggml.model", "gpt2");
  gguf_set_val_str(metadata.raw(), "tokenizer.ggml.pre", "gpt-2");
  gguf_set_arr_str(metadata.raw(), "tokenizer.ggml.tokens", tokens, 2);
  gguf_set_arr_str(metadata.raw(), "tokenizer.ggml.merges", nullptr, 0);
  const Vocabulary vocabulary = OpenVocabulary(metadata);
  EXPECT_EQ(vocabulary.tokenizer->Encode("abba"), (Tokens{0, 1, 1, 0}));
  EXPECT_NE(ErrorOf([&] { vocabulary.tokenizer->Encode("abc"); }).find("part of 'abc'"), std::string::npos);
  EXPECT_EQ(vocabulary.mask_token, -1);
  EXPECT_TRUE(vocabulary.eos_tokens.empty());
}

TEST(VocabularyTest, MetadataThatDoesNotFitIsRefused) {
  const auto refused = [](const std::function<void(gguf_context*)>& damage) {
    Metadata metadata = FolderMetadata(Golden("llada"));
    damage(metadata.raw());
    return ErrorOf([&] { OpenVocabulary(metadata); });
  };
  const char* two[] = {"a", "a"};
  const char* bad_utf8[] = {"a", "\xff"};
  const std::int32_t kinds[] = {1, 1};
  const struct {
    std::function<void(gguf_context*)> damage;
    const char* words;
  } cases[] = {
      {[](gguf_context* g) { gguf_remove_key(g, "tokenizer.ggml.model"); }, "llada: there is no tokenizer"},
      {[](gguf_context* g) { gguf_set_val_str(g, "tokenizer.ggml.model", "rwkv"); }, "is 'rwkv'; supported: gpt2"},
      {[](gguf_context* g) { gguf_remove_key(g, "tokenizer.ggml.tokens"); }, "'tokenizer.ggml.tokens' is missing"},
      {[](gguf_context* g) { gguf_remove_key(g, "tokenizer.ggml.merges"); }, "llada: libllama does not take"},
      {[](gguf_context* g) { gguf_set_val_str(g, "tokenizer.ggml.pre", "nobody"); }, "'nobody'"},
      {[&](gguf_context* g) { gguf_set_arr_str(g, "tokenizer.ggml.tokens", two, 2); }, "entries 0 and 1 are both 'a'"},
      {[&](gguf_context* g) { gguf_set_arr_str(g, "tokenizer.ggml.tokens", bad_utf8, 2); }, "entry 1 is not valid"},
      {[&](gguf_context* g) { gguf_set_arr_data(g, "tokenizer.ggml.token_type", GGUF_TYPE_INT32, kinds, 2); },
       "'tokenizer.ggml.token_type' has 2 entries for 320"},
      {[](gguf_context* g) { gguf_set_val_u32(g, "tokenizer.ggml.mask_token_id", 320); },
       "'tokenizer.ggml.mask_token_id' is 320, outside the vocabulary of 320"},
      {[](gguf_context* g) {
         gguf_remove_key(g, "tokenizer.ggml.bos_token_id");
         gguf_set_val_bool(g, "tokenizer.ggml.add_bos_token", true);
       },
       "'tokenizer.ggml.bos_token_id' is missing"},
  };
  for (const auto& item : cases) {
    const std::string refusal = refused(item.damage);
    EXPECT_NE(refusal.find(item.words), std::string::npos) << refusal << ", wanted " << item.words;
  }
}

}  // namespace
}  // namespace punt
