#include "model/model_files.h"

#include <array>

#include "base/check.h"
#include "text/hf_tokenizer.h"
#include "weights/hf_folder.h"

namespace punt {
namespace {

namespace fs = std::filesystem;

constexpr std::array kTokenizerFiles = {"tokenizer.json", "vocab.txt", "vocab.json", "tokenizer_config.json"};

struct SpecialToken {
  const char* field;
  const char* key;
};

constexpr SpecialToken kSpecialTokens[] = {{"bos_token_id", "tokenizer.ggml.bos_token_id"},
                                           {"eos_token_id", "tokenizer.ggml.eos_token_id"},
                                           {"pad_token_id", "tokenizer.ggml.padding_token_id"},
                                           {"mask_token_id", "tokenizer.ggml.mask_token_id"}};

// The vocabulary of the Ling family, and its mask token in LLaDA-MoE and LLaDA2, whose config.json does not name it.
constexpr std::int64_t kLingVocabulary = 157'184;
constexpr std::uint32_t kLingMask = 156'895;
constexpr const char* kMaskKey = "tokenizer.ggml.mask_token_id";

bool HasTokenizer(const fs::path& folder) {
  for (const char* name : kTokenizerFiles) {
    if (fs::exists(folder / name)) return true;
  }
  return false;
}

void AddSpecialTokens(const HfConfig& config, Metadata& metadata) {
  for (const SpecialToken& token : kSpecialTokens) {
    const std::int64_t id = config.TokenOrNone(token.field);
    if (id < 0 || metadata.Has(token.key)) continue;
    gguf_set_val_u32(metadata.raw(), token.key, static_cast<std::uint32_t>(id));
  }
  const std::string architecture = metadata.String("general.architecture");
  const bool is_ling = architecture == "llada-moe" || architecture == "llada2-moe";
  if (is_ling && metadata.Integer(architecture + ".vocab_size") == kLingVocabulary && !metadata.Has(kMaskKey)) {
    gguf_set_val_u32(metadata.raw(), kMaskKey, kLingMask);
  }
}

}  // namespace

std::unique_ptr<WeightSource> OpenModelFiles(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) BadInput("{}: no such file or folder", path.string());
  if (!fs::is_directory(status)) return OpenGguf(path);
  if (!fs::exists(path / "config.json")) {
    BadInput("{}: no model: the folder has no config.json (a GGUF file is given by its own name)", path.string());
  }
  return OpenHfFolder(path, [&path](Metadata& metadata) {
    if (HasTokenizer(path)) AddHfTokenizer(path, metadata);
    AddSpecialTokens(ReadHfConfig(path), metadata);
  });
}

}  // namespace punt
