// Against libllama's own code, on texts in which nothing is special and which are short enough for it.
#include "text/sentencepiece.h"

#include <gtest/gtest.h>
#include <llama.h>

#include <memory>
#include <random>

#include "text/holes_testing.h"
#include "text/tokenizers_testing.h"

namespace punt {
namespace {

using Tokens = std::vector<Token>;
using LlamaPtr = std::unique_ptr<llama_model, decltype(&llama_model_free)>;

LlamaPtr OpenTwin(gguf_context* keys) {
  gguf_set_val_str(keys, "general.architecture", "llama");
  llama_model_params params = llama_model_default_params();
  params.vocab_only = true;
  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  LlamaPtr model(llama_model_init_from_user(
                     keys, [](ggml_tensor*, void*) {}, nullptr, params),
                 &llama_model_free);
  llama_log_set(nullptr, nullptr);
  return model;
}

Tokens TwinTokens(const llama_model& model, const std::string& text) {
  Tokens tokens(3 * text.size() + 3);  // a space is three bytes
  const std::int32_t count =
      llama_tokenize(llama_model_get_vocab(&model), text.data(), static_cast<std::int32_t>(text.size()), tokens.data(),
                     static_cast<std::int32_t>(tokens.size()), false, false);
  tokens.resize(static_cast<std::size_t>(std::max(count, 0)));
  return tokens;
}

/// The keys of a random vocabulary over a few letters: pieces of one to five of them with random scores, many equal.
Metadata RandomPieces(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::string> tokens = {"<unk>", "<s>", "</s>"};
  std::vector<std::int32_t> kinds = {2, 3, 3};
  for (int byte = 0; byte < 256; ++byte) {
    char name[8];
    std::snprintf(name, sizeof(name), "<0x%02X>", byte);
    tokens.emplace_back(name);
    kinds.push_back(6);
  }
  const std::string letters[] = {"a", "b", "\u00e9", "\u2581", "\n"};
  for (int i = 0; i < 60; ++i) {
    std::string piece;
    for (std::size_t left = random() % 5 + 1; left > 0; --left) piece += letters[random() % std::size(letters)];
    if (std::find(tokens.begin(), tokens.end(), piece) != tokens.end()) continue;
    tokens.push_back(piece);
    kinds.push_back(random() % 10 == 0 ? 5 : 1);
  }
  std::vector<float> scores;
  for (std::size_t i = 0; i < tokens.size(); ++i) scores.push_back(-static_cast<float>(random() % 6));
  std::vector<const char*> pointers;
  for (const std::string& token : tokens) pointers.push_back(token.c_str());
  Metadata metadata(GgufPtr(gguf_init_empty()), "random");
  gguf_set_val_str(metadata.raw(), "tokenizer.ggml.model", "llama");
  gguf_set_arr_str(metadata.raw(), "tokenizer.ggml.tokens", pointers.data(), pointers.size());
  gguf_set_arr_data(metadata.raw(), "tokenizer.ggml.scores", GGUF_TYPE_FLOAT32, scores.data(), scores.size());
  gguf_set_arr_data(metadata.raw(), "tokenizer.ggml.token_type", GGUF_TYPE_INT32, kinds.data(), kinds.size());
  gguf_set_val_bool(metadata.raw(), "tokenizer.ggml.add_space_prefix", seed % 2 == 0);
  return metadata;
}

TEST(SentencePieceTest, RandomVocabulariesAsLibllama) {
  std::mt19937_64 random(1);
  const std::string letters[] = {"a", "b", "\u00e9", " ", "\n", "\u6f22", "aab", "  "};
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Metadata metadata = RandomPieces(seed);
    const Vocabulary vocabulary = OpenVocabulary(metadata);
    const LlamaPtr twin = OpenTwin(metadata.raw());
    ASSERT_NE(twin, nullptr);
    for (int i = 0; i < 100; ++i) {
      std::string text;
      for (std::size_t left = random() % 20; left > 0; --left) text += letters[random() % std::size(letters)];
      EXPECT_EQ(vocabulary.tokenizer->Encode(text), TwinTokens(*twin, text)) << seed << ": '" << text << "'";
    }
  }
}

TEST(SentencePieceTest, StoriesAsLibllama) {
  const std::filesystem::path file = std::filesystem::path(PUNT_SOURCE_DIR) / "models/stories.gguf";
  const auto source = OpenGguf(file);
  const Vocabulary vocabulary = OpenVocabulary(source->metadata());
  llama_model_params params = llama_model_default_params();
  params.vocab_only = true;
  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  const LlamaPtr twin(llama_model_load_from_file(file.c_str(), params), &llama_model_free);
  llama_log_set(nullptr, nullptr);
  ASSERT_NE(twin, nullptr);
  for (const std::string& text : testing::HoleTexts(2000)) {
    if (text.find('<') != std::string::npos) continue;  // libllama may take "<b>" for what it is not
    EXPECT_EQ(vocabulary.tokenizer->Encode(text), TwinTokens(*twin, text)) << text;
  }
}

}  // namespace
}  // namespace punt
