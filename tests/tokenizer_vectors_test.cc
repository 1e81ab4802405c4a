// Released tokenizers against Hugging Face's and llama.cpp's own output. The tokenizers are large and not shipped:
// without them (base/test_data_testing.h) the tests are skipped. Each is opened once.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/test_data_testing.h"
#include "model/model_text.h"
#include "text/utf8.h"

namespace punt {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::TestData;

const fs::path kGolden = fs::path(PUNT_SOURCE_DIR) / "tests/golden";

std::string Read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

struct Vector {
  std::string text;
  std::vector<Token> ids;
};

/// One JSON object per line.
std::vector<Vector> ReadLines(const fs::path& file) {
  std::vector<Vector> vectors;
  std::istringstream lines(Read(file));
  for (std::string line; std::getline(lines, line);) {
    const Json item = Json::parse(line);
    vectors.push_back({item.at("text"), item.at("ids")});
  }
  return vectors;
}

/// {"vectors": [...]}
std::vector<Vector> ReadList(const fs::path& file) {
  const Json all = Json::parse(Read(file));
  std::vector<Vector> vectors;
  for (const Json& item : all.at("vectors")) vectors.push_back({item.at("text"), item.at("ids")});
  return vectors;
}

/// llama.cpp's: texts between lines "__ggml_vocab_test__", and a line of numbers for each.
std::vector<Vector> ReadLlamaCpp(const fs::path& inputs, const fs::path& outputs) {
  constexpr std::string_view kBetween = "\n__ggml_vocab_test__\n";
  std::vector<Vector> vectors;
  const std::string texts = Read(inputs);
  std::istringstream lines(Read(outputs));
  for (std::size_t begin = 0; begin < texts.size();) {
    const std::size_t end = std::min(texts.find(kBetween, begin), texts.size());
    Vector vector{texts.substr(begin, end - begin), {}};
    std::string line;
    std::getline(lines, line);
    std::istringstream numbers(line);
    for (Token token; numbers >> token;) vector.ids.push_back(token);
    vectors.push_back(std::move(vector));
    begin = end + kBetween.size();
  }
  return vectors;
}

struct Outcome {
  int encoded = 0;
  int decoded = 0;
};

/// Counts, and reports the first few that differ. `original` is what decoding must give.
template <typename Original>
Outcome Compare(const Vocabulary& vocabulary, const std::vector<Vector>& vectors, Original original) {
  Outcome outcome;
  int reported = 0;
  for (const Vector& vector : vectors) {
    const std::vector<Token> ids = vocabulary.tokenizer->Encode(vector.text, {.specials = true});
    outcome.encoded += ids == vector.ids;
    const std::string text = vocabulary.tokenizer->Decode(vector.ids);
    const bool decodes = original(vector, text);
    outcome.decoded += decodes;
    if ((ids != vector.ids || !decodes) && ++reported <= 5) {
      ADD_FAILURE() << "text " << Json(vector.text) << "\nwanted " << Json(vector.ids) << "\ngot    " << Json(ids)
                    << "\nback   " << Json(text);
    }
  }
  return outcome;
}

bool IsExactly(const Vector& vector, const std::string& text) { return text == vector.text; }
bool IsNormalized(const Vector& vector, const std::string& text) { return text == Nfc(vector.text); }

template <typename Original>
void ExpectAll(const Vocabulary& vocabulary, const std::vector<Vector>& vectors, Original original, int count) {
  const Outcome outcome = Compare(vocabulary, vectors, original);
  EXPECT_EQ(vectors.size(), static_cast<std::size_t>(count));
  EXPECT_EQ(outcome.encoded, count);
  EXPECT_EQ(outcome.decoded, count);
}

/// The folder "tokenizers/<name>" that has `file`.
Vocabulary Open(const std::string& name, const std::string& file = "tokenizer.json") {
  return OpenModelVocabulary(TestData("tokenizers/" + name + "/" + file).parent_path().string());
}

std::vector<Vector> ReadLlamaCpp(const std::string& name) {
  const std::string file = "tokenizers/llama.cpp/ggml-vocab-" + name + ".gguf";
  return ReadLlamaCpp(TestData(file + ".inp"), TestData(file + ".out"));
}

TEST(TokenizerVectors, Llada) {
  REQUIRE_TEST_DATA("tokenizers/llada-8b-instruct/tokenizer.json");
  const Vocabulary vocabulary = Open("llada-8b-instruct");
  EXPECT_EQ(vocabulary.mask_token, 126336);
  EXPECT_EQ(vocabulary.eos_tokens, (std::vector<Token>{126081, 126348}));
  ExpectAll(vocabulary, ReadList(kGolden / "tokenizers/llada-8b-instruct.vectors.json"), IsNormalized, 114);
}

TEST(TokenizerVectors, Dream) {
  REQUIRE_TEST_DATA("tokenizers/dream-v0-7b/tokenizer.json", "tokenizers/llama.cpp/ggml-vocab-qwen2.gguf.inp");
  const Vocabulary vocabulary = Open("dream-v0-7b");
  EXPECT_EQ(vocabulary.mask_token, 151666);
  EXPECT_EQ(vocabulary.eos_tokens.at(0), 151643);
  EXPECT_EQ(vocabulary.eos_tokens.at(1), 151645);
  ExpectAll(vocabulary, ReadList(kGolden / "tokenizers/dream-7b.vectors.json"), IsNormalized, 114);
  // Dream's vocabulary is that of Qwen 2 with two tokens more.
  ExpectAll(vocabulary, ReadLlamaCpp("qwen2"), IsNormalized, 46);
}

TEST(TokenizerVectors, Gpt2) {
  REQUIRE_TEST_DATA("tokenizers/gpt2/tokenizer.json", "tokenizers/llama.cpp/ggml-vocab-gpt-2.gguf.inp");
  const Vocabulary vocabulary = Open("gpt2");
  EXPECT_EQ(vocabulary.mask_token, -1);
  EXPECT_EQ(vocabulary.eos_tokens, (std::vector<Token>{50256}));
  ExpectAll(vocabulary, ReadLlamaCpp("gpt-2"), IsExactly, 46);
}

TEST(TokenizerVectors, Gpt2OfAGgufFile) {
  const std::string file = "tokenizers/llama.cpp/ggml-vocab-gpt-2.gguf";
  REQUIRE_TEST_DATA(file);
  const Vocabulary vocabulary = OpenModelVocabulary(TestData(file).string());
  ExpectAll(vocabulary, ReadLlamaCpp("gpt-2"), IsExactly, 46);
}

/// WordPiece loses case and spacing: what it gives back must give the same tokens again.
auto GivesTheSameTokens(const Vocabulary& vocabulary) {
  return [&vocabulary](const Vector& vector, const std::string& text) {
    return vocabulary.tokenizer->Encode(text, {.specials = true}) == vector.ids;
  };
}

TEST(TokenizerVectors, Bert) {
  REQUIRE_TEST_DATA("tokenizers/bert-base-uncased/vocab.txt", "tokenizers/llama.cpp/ggml-vocab-bert-bge.gguf.inp");
  const Vocabulary vocabulary = Open("bert-base-uncased", "vocab.txt");
  EXPECT_EQ(vocabulary.mask_token, 103);
  EXPECT_EQ(vocabulary.tokenizer->Prefix(), std::vector<Token>{101});
  EXPECT_EQ(vocabulary.tokenizer->Suffix(), std::vector<Token>{102});
  ExpectAll(vocabulary, ReadLlamaCpp("bert-bge"), GivesTheSameTokens(vocabulary), 46);
}

TEST(TokenizerVectors, BertOfAGgufFile) {
  const std::string file = "tokenizers/llama.cpp/ggml-vocab-bert-bge.gguf";
  REQUIRE_TEST_DATA(file);
  const Vocabulary vocabulary = OpenModelVocabulary(TestData(file).string());
  EXPECT_EQ(vocabulary.tokenizer->Prefix(), std::vector<Token>{101});
  ExpectAll(vocabulary, ReadLlamaCpp("bert-bge"), GivesTheSameTokens(vocabulary), 46);
}

/// Texts of many kinds: code, other languages, random characters.
class ManyTexts : public ::testing::TestWithParam<std::string> {};

TEST_P(ManyTexts, AreEncodedAndDecoded) {
  const std::string folder = "tokenizers/" + GetParam();
  const bool is_word_piece = GetParam() == "bert-base-uncased";
  const std::string file = is_word_piece ? "vocab.txt" : "tokenizer.json";
  REQUIRE_TEST_DATA(folder + "/" + file, folder + "/vectors.jsonl");
  const Vocabulary vocabulary = Open(GetParam(), file);
  const std::vector<Vector> vectors = ReadLines(TestData(folder + "/vectors.jsonl"));
  if (is_word_piece) {
    ExpectAll(vocabulary, vectors, GivesTheSameTokens(vocabulary), 840);
  } else {
    ExpectAll(vocabulary, vectors, GetParam() == "gpt2" ? IsExactly : IsNormalized, 840);
  }
}

INSTANTIATE_TEST_SUITE_P(TokenizerVectors, ManyTexts,
                         ::testing::Values("llada-8b-instruct", "dream-v0-7b", "gpt2", "bert-base-uncased"),
                         [](const auto& name) {
                           std::string text = name.param;
                           std::replace(text.begin(), text.end(), '-', '_');
                           return text;
                         });

TEST(TokenizerVectors, ManyTextsInGpt2OfAGgufFile) {
  const std::string file = "tokenizers/llama.cpp/ggml-vocab-gpt-2.gguf";
  REQUIRE_TEST_DATA(file, "tokenizers/gpt2/vectors.jsonl");
  ExpectAll(OpenModelVocabulary(TestData(file).string()), ReadLines(TestData("tokenizers/gpt2/vectors.jsonl")),
            IsExactly, 840);
}

/// The two sequences, and their tokens, that the tests of ESM's tokenizer in Hugging Face's transformers have.
TEST(TokenizerVectors, Esm) {
  const Vocabulary vocabulary = OpenModelVocabulary((kGolden / "esm2").string());
  ExpectAll(vocabulary, {{"LAGVS", {4, 5, 6, 7, 8}}, {"WCB", {22, 23, 25}}}, IsExactly, 2);
}

}  // namespace
}  // namespace punt
