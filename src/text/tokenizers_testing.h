// The tokenizers that properties are tested on: the shipped ones, and released ones where they are at hand.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/test_data_testing.h"
#include "text/hf_tokenizer.h"
#include "text/vocabulary.h"
#include "text/vocabulary_keys.h"
#include "weights/weight_source.h"

namespace punt::testing {

struct NamedTokenizer {
  std::string name;
  std::string kind;  // as tokenizer.ggml.model: gpt2, llama, bert, esm
  Vocabulary vocabulary;
  VocabularyKeys keys;

  const Tokenizer& operator*() const { return *vocabulary.tokenizer; }
  const Tokenizer* operator->() const { return vocabulary.tokenizer.get(); }
};

inline NamedTokenizer OpenNamed(const std::string& name, const Metadata& metadata) {
  return {name, metadata.String("tokenizer.ggml.model"), OpenVocabulary(metadata), ReadVocabularyKeys(metadata)};
}

inline Metadata FolderTokenizer(const std::filesystem::path& folder) {
  Metadata metadata(GgufPtr(gguf_init_empty()), folder.filename().string());
  AddHfTokenizer(folder, metadata);
  return metadata;
}

inline std::vector<NamedTokenizer> ShippedTokenizers() {
  const std::filesystem::path source = PUNT_SOURCE_DIR;
  std::vector<NamedTokenizer> all;
  all.push_back(OpenNamed("stories", OpenGguf(source / "models/stories.gguf")->metadata()));
  for (const char* name : {"llada", "dream", "llada2_moe", "bert", "esm2"}) {
    all.push_back(OpenNamed(name, FolderTokenizer(source / "tests/golden" / name)));
  }
  return all;
}

/// Empty where they are not at hand (test_data_testing.h).
inline std::vector<NamedTokenizer> ReleasedTokenizers() {
  std::vector<NamedTokenizer> all;
  for (const char* name : {"gpt2/tokenizer.json", "llada-8b-instruct/tokenizer.json", "dream-v0-7b/tokenizer.json",
                           "bert-base-uncased/vocab.txt"}) {
    const std::filesystem::path file = TestData(std::string("tokenizers/") + name);
    const std::filesystem::path folder = file.parent_path();
    if (std::filesystem::exists(file)) all.push_back(OpenNamed(folder.filename(), FolderTokenizer(folder)));
  }
  return all;
}

}  // namespace punt::testing
