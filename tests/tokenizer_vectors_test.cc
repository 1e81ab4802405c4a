// Released tokenizers against Hugging Face's own output. The files are large and not shipped: without the folder
// ../shared beside the sources the tests are skipped. Each tokenizer is opened once.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "model/model_text.h"
#include "text/utf8.h"

namespace punt {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const fs::path kShared = fs::path(PUNT_SOURCE_DIR) / "../shared";

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

const auto kExactly = [](const Vector& vector, const std::string& text) { return text == vector.text; };
const auto kNormalized = [](const Vector& vector, const std::string& text) { return text == Nfc(vector.text); };

#define REQUIRE_FILE(path)                                                                    \
  do {                                                                                        \
    if (!fs::exists(path)) GTEST_SKIP() << "missing: " << (path).lexically_normal().string(); \
  } while (false)

template <typename Original>
void ExpectAll(const Vocabulary& vocabulary, const std::vector<Vector>& vectors, Original original, int count) {
  const Outcome outcome = Compare(vocabulary, vectors, original);
  EXPECT_EQ(vectors.size(), static_cast<std::size_t>(count));
  EXPECT_EQ(outcome.encoded, count);
  EXPECT_EQ(outcome.decoded, count);
}

TEST(TokenizerVectors, Llada) {
  const fs::path folder = kShared / "data/tokenizers/llada-8b-instruct";
  REQUIRE_FILE(folder);
  const Vocabulary vocabulary = OpenModelVocabulary(folder.string());
  EXPECT_EQ(vocabulary.mask_token, 126336);
  EXPECT_EQ(vocabulary.eos_tokens, (std::vector<Token>{126081, 126348}));
  ExpectAll(vocabulary, ReadLines(folder / "vectors.jsonl"), kNormalized, 840);
  const fs::path golden = kShared / "golden/tokenizers/llada-8b-instruct.vectors.json";
  REQUIRE_FILE(golden);
  ExpectAll(vocabulary, ReadList(golden), kNormalized, 114);
}

TEST(TokenizerVectors, Dream) {
  const fs::path folder = kShared / "data/tokenizers/dream-v0-7b";
  REQUIRE_FILE(folder);
  const Vocabulary vocabulary = OpenModelVocabulary(folder.string());
  EXPECT_EQ(vocabulary.mask_token, 151666);
  EXPECT_EQ(vocabulary.eos_tokens.at(0), 151643);
  EXPECT_EQ(vocabulary.eos_tokens.at(1), 151645);
  ExpectAll(vocabulary, ReadLines(folder / "vectors.jsonl"), kNormalized, 840);
  const fs::path golden = kShared / "golden/tokenizers/dream-7b.vectors.json";
  REQUIRE_FILE(golden);
  ExpectAll(vocabulary, ReadList(golden), kNormalized, 114);
  // Dream's vocabulary is that of Qwen 2 with two tokens more.
  const fs::path inputs = kShared / "data/tokenizers/llama.cpp/ggml-vocab-qwen2.gguf.inp";
  REQUIRE_FILE(inputs);
  const fs::path outputs = kShared / "data/tokenizers/llama.cpp/ggml-vocab-qwen2.gguf.out";
  ExpectAll(vocabulary, ReadLlamaCpp(inputs, outputs), kNormalized, 46);
}

TEST(TokenizerVectors, Gpt2) {
  const fs::path folder = kShared / "data/tokenizers/gpt2";
  REQUIRE_FILE(folder);
  const Vocabulary vocabulary = OpenModelVocabulary(folder.string());
  EXPECT_EQ(vocabulary.mask_token, -1);
  EXPECT_EQ(vocabulary.eos_tokens, (std::vector<Token>{50256}));
  ExpectAll(vocabulary, ReadLines(folder / "vectors.jsonl"), kExactly, 840);
}

TEST(TokenizerVectors, Gpt2OfAGgufFile) {
  const fs::path file = kShared / "data/tokenizers/llama.cpp/ggml-vocab-gpt-2.gguf";
  REQUIRE_FILE(file);
  const Vocabulary vocabulary = OpenModelVocabulary(file.string());
  ExpectAll(vocabulary, ReadLlamaCpp(file.string() + ".inp", file.string() + ".out"), kExactly, 46);
  const fs::path vectors = kShared / "data/tokenizers/gpt2/vectors.jsonl";
  REQUIRE_FILE(vectors);
  ExpectAll(vocabulary, ReadLines(vectors), kExactly, 840);
}

/// WordPiece loses case and spacing: what it gives back must give the same tokens again.
auto GivesTheSameTokens(const Vocabulary& vocabulary) {
  return [&vocabulary](const Vector& vector, const std::string& text) {
    return vocabulary.tokenizer->Encode(text, {.specials = true}) == vector.ids;
  };
}

TEST(TokenizerVectors, Bert) {
  const fs::path folder = kShared / "data/tokenizers/bert-base-uncased";
  REQUIRE_FILE(folder);
  const Vocabulary vocabulary = OpenModelVocabulary(folder.string());
  EXPECT_EQ(vocabulary.mask_token, 103);
  EXPECT_EQ(vocabulary.tokenizer->Prefix(), std::vector<Token>{101});
  EXPECT_EQ(vocabulary.tokenizer->Suffix(), std::vector<Token>{102});
  ExpectAll(vocabulary, ReadLines(folder / "vectors.jsonl"), GivesTheSameTokens(vocabulary), 840);
}

TEST(TokenizerVectors, BertOfAGgufFile) {
  const fs::path file = kShared / "data/tokenizers/llama.cpp/ggml-vocab-bert-bge.gguf";
  REQUIRE_FILE(file);
  const Vocabulary vocabulary = OpenModelVocabulary(file.string());
  EXPECT_EQ(vocabulary.tokenizer->Prefix(), std::vector<Token>{101});
  ExpectAll(vocabulary, ReadLlamaCpp(file.string() + ".inp", file.string() + ".out"), GivesTheSameTokens(vocabulary),
            46);
}

TEST(TokenizerVectors, Esm) {
  const fs::path golden = fs::path(PUNT_SOURCE_DIR) / "tests/golden/esm2";
  const fs::path file = kShared / "data/tokenizers/esm2/vectors.jsonl";
  REQUIRE_FILE(file);
  const Vocabulary vocabulary = OpenModelVocabulary(golden.string());
  std::vector<Vector> vectors = ReadLines(file);
  for (Vector& vector : vectors) vector.ids = {vector.ids.begin() + 1, vector.ids.end() - 1};  // <cls> and <eos>
  ExpectAll(vocabulary, vectors, kExactly, 2);
}

}  // namespace
}  // namespace punt
