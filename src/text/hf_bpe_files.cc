// Byte-level BPE as it was kept before tokenizer.json: vocab.json, merges.txt, and the added tokens in
// tokenizer_config.json or added_tokens.json. Dream ships these. There the pattern is in the code of the tokenizer's
// class, so the class decides it. The files are combined into what tokenizer.json would say, and read as that.
#include <sstream>

#include "base/check.h"
#include "text/hf_vocabulary.h"

namespace punt {
namespace {

using Json = nlohmann::json;

constexpr const char* kQwen2Steps = R"json({"type": "Sequence", "pretokenizers": [
  {"type": "Split", "behavior": "Isolated", "pattern": {"Regex": "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"}},
  {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}]})json";
constexpr const char* kGpt2Steps = R"json({"type": "ByteLevel", "add_prefix_space": false})json";

Json ReadMerges(const std::filesystem::path& file) {
  Json merges = Json::array();
  std::istringstream lines(ReadWholeFile(file));
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty() && !line.starts_with("#version")) merges.push_back(line);
  }
  return merges;
}

/// RoBERTa has them in vocab.json, without saying that they are special.
constexpr const char* kRobertaSpecials[] = {"<s>", "<pad>", "</s>", "<unk>", "<mask>"};

/// {"151666": {"content": "<|mask|>", "special": true}} or {"<|mask|>": 151666}
Json ReadAddedTokens(const std::filesystem::path& folder, const HfJson& config) {
  Json added = Json::array();
  const HfJson decoder = config["added_tokens_decoder"];
  if (decoder.IsObject()) {
    for (const auto& [id, token] : decoder.Object().items()) {
      const bool is_number = !id.empty() && id.size() < 10 && id.find_first_not_of("0123456789") == std::string::npos;
      if (!is_number || !token.is_object()) decoder[id].Refuse("must be a token under its number");
      Json entry = token;
      entry["id"] = std::stoi(id);
      added.push_back(std::move(entry));
    }
    return added;
  }
  const HfJson list = HfJson::ReadOptional(folder / "added_tokens.json");
  for (const auto& [text, id] : list.Object().items()) {
    // This file does not say which are special; the names do.
    const bool is_special = text.starts_with("<|") || text.starts_with('[');
    added.push_back({{"content", text}, {"id", list[text].Integer()}, {"special", is_special}});
  }
  return added;
}

}  // namespace

HfVocabulary ReadBpeFiles(const std::filesystem::path& folder, const HfJson& tokenizer_config,
                          std::string_view model_type) {
  const HfJson field = tokenizer_config["tokenizer_class"];
  const std::string name = field.StringOr("");
  const bool is_qwen2 = name.starts_with("Qwen2Tokenizer") || name.starts_with("DreamTokenizer") ||
                        (name.empty() && (model_type == "Dream" || model_type == "qwen2"));
  const bool is_gpt2 = name.starts_with("GPT2Tokenizer") || (name.empty() && model_type == "gpt2");
  const bool is_roberta = name.starts_with("RobertaTokenizer") || (name.empty() && model_type == "roberta");
  if (!is_qwen2 && !is_gpt2 && !is_roberta) {
    field.Refuse(
        fmt::format("'{}' without a tokenizer.json is not supported; supported: DreamTokenizer, "
                    "Qwen2Tokenizer, GPT2Tokenizer, RobertaTokenizer",
                    name));
  }
  const std::filesystem::path file = folder / "vocab.json";
  const HfJson vocab = HfJson::Parse(ReadWholeFile(file), file.string());
  Json whole = {{"model", {{"type", "BPE"}, {"vocab", vocab.Object()}, {"merges", ReadMerges(folder / "merges.txt")}}}};
  whole["added_tokens"] = ReadAddedTokens(folder, tokenizer_config);
  for (const char* special : kRobertaSpecials) {
    if (!is_roberta || !vocab.Object().contains(special)) continue;
    whole["added_tokens"].push_back({{"content", special}, {"id", vocab[special].Integer()}, {"special", true}});
  }
  whole["pre_tokenizer"] = Json::parse(is_qwen2 ? kQwen2Steps : kGpt2Steps);
  if (is_qwen2) whole["normalizer"] = {{"type", "NFC"}};
  HfVocabulary vocabulary = ReadHfBpe(HfJson(std::move(whole), folder.string(), ""));
  if (is_roberta) {
    vocabulary.prefix = "<s>";
    vocabulary.suffix = "</s>";
  }
  return vocabulary;
}

}  // namespace punt
