// A Hugging Face folder spreads a tokenizer over several files, which may contradict each other. What is believed:
//   tokens, merges, patterns    tokenizer.json; without it vocab.json and merges.txt, or vocab.txt
//   the mask token              config.json, which the model was trained by; then the tokenizer's; then a known name
//   other special tokens        tokenizer_config.json, special_tokens_map.json, config.json, a known name
//   what comes before a text    the post-processor of tokenizer.json; then add_bos_token of tokenizer_config.json
//   size of the vocabulary      config.json, which may leave room after the last token: unused entries fill it
#include "text/hf_tokenizer.h"

#include <array>

#include "base/check.h"
#include "text/hf_vocabulary.h"

namespace punt {
namespace {

namespace fs = std::filesystem;

struct HfFolder {
  HfJson config;            // config.json
  HfJson tokenizer_config;  // tokenizer_config.json
  HfJson special_map;       // special_tokens_map.json
};

struct SpecialRow {
  const char* role;  // "bos": fields bos_token, bos_token_id
  const char* key;   // GGUF's
  bool config_first;
  std::array<const char*, 7> names;  // looked for when no file says
};

constexpr SpecialRow kSeparator = {"sep", "seperator_token_id", false, {"[SEP]", "<sep>"}};  // GGUF's spelling
constexpr SpecialRow kSpecials[] = {
    {"bos", "bos_token_id", false, {}},
    {"eos", "eos_token_id", false, {"<|endoftext|>", "<eos>", "</s>"}},
    {"eot", "eot_token_id", false, {"<|eot_id|>", "<|im_end|>", "<|role_end|>", "<end_of_turn>"}},
    {"pad", "padding_token_id", false, {"[PAD]", "<pad>"}},
    {"unk", "unknown_token_id", false, {"[UNK]", "<unk>"}},
    {"mask",
     "mask_token_id",
     true,
     {"<|mdm_mask|>", "<|mask|>", "<|MASK|>", "|<MASK>|", "<[MASK_TOKEN]>", "[MASK]", "<mask>"}},
    {"cls", "cls_token_id", false, {"[CLS]", "<cls>"}},
    kSeparator,
};

/// A special token is written as a string or as an object with its text.
std::string SpecialText(const HfJson& field) {
  if (field.IsNull()) return "";
  return field.IsObject() ? field["content"].String() : field.String();
}

std::optional<Token> NamedBy(const HfJson& file, const std::string& role, const HfVocabulary& vocabulary) {
  const HfJson field = file[role + "_token"];
  const std::string text = SpecialText(field);
  if (text.empty()) return std::nullopt;
  const auto token = vocabulary.Find(text);
  if (!token) field.Refuse(fmt::format("names the unknown token '{}'", text));
  return token;
}

std::optional<Token> NumberedBy(const HfJson& config, const std::string& role, const HfVocabulary& vocabulary) {
  HfJson field = config[role + "_token_id"];
  if (field.IsArray() && field.Size() > 0) field = field.At(0);
  if (field.IsNull()) return std::nullopt;
  const std::int64_t id = field.Integer();
  if (id == -1) return std::nullopt;  // how some files say that there is none
  const auto size = static_cast<std::int64_t>(vocabulary.tokens.size());
  if (id < 0 || id >= size) field.Refuse(fmt::format("{} lies outside the vocabulary of {}", id, size));
  return static_cast<Token>(id);
}

std::optional<Token> FindSpecial(const SpecialRow& row, const HfFolder& folder, const HfVocabulary& vocabulary) {
  const auto numbered = NumberedBy(folder.config, row.role, vocabulary);
  if (row.config_first && numbered) return numbered;
  for (const HfJson* file : {&folder.tokenizer_config, &folder.special_map}) {
    if (const auto named = NamedBy(*file, row.role, vocabulary)) return named;
  }
  if (numbered) return numbered;
  for (const char* name : row.names) {
    if (name == nullptr) break;
    if (const auto known = vocabulary.Find(name)) return known;
  }
  return std::nullopt;
}

/// Unused room in the model and gaps between tokens get made-up names.
void FillGaps(const HfJson& config, HfVocabulary& vocabulary) {
  const HfJson field = config["vocab_size"];
  if (!field.IsNull()) {
    const std::int64_t size = field.Integer();
    if (size < static_cast<std::int64_t>(vocabulary.tokens.size()) || size > std::int64_t{1} << 22) {
      field.Refuse(
          fmt::format("{} does not fit the {} tokens of {}", size, vocabulary.tokens.size(), vocabulary.origin));
    }
    vocabulary.tokens.resize(static_cast<std::size_t>(size));
    vocabulary.kinds.resize(vocabulary.tokens.size(), TokenKind::kUnused);
  }
  for (std::size_t i = 0; i < vocabulary.tokens.size(); ++i) {
    std::string& text = vocabulary.tokens[i];
    if (!text.empty()) continue;
    text = fmt::format("[PAD{}]", i);
    while (vocabulary.Find(text)) text += '_';
  }
}

/// BERT's spelling to GGUF's: the beginning of a word is marked, not its inside.
std::string GgufSpelling(const std::string& text) {
  if (text.starts_with('[') && text.ends_with(']') && text.size() > 1) return text;
  if (text.starts_with("##") && text.size() > 2) return text.substr(2);
  return "\xe2\x96\x81" + text;
}

std::string ReadChatTemplate(const fs::path& folder, const HfJson& tokenizer_config) {
  if (fs::exists(folder / "chat_template.jinja")) return ReadWholeFile(folder / "chat_template.jinja");
  const HfJson field = tokenizer_config["chat_template"];
  if (!field.IsArray()) return field.StringOr("");
  for (std::size_t i = 0; i < field.Size(); ++i) {
    if (field.At(i)["name"].String() == "default") return field.At(i)["template"].String();
  }
  field.Refuse("has no template named 'default'");
}

void SetStrings(gguf_context* gguf, const char* key, const std::vector<std::string>& values) {
  std::vector<const char*> pointers;
  pointers.reserve(values.size());
  for (const std::string& value : values) pointers.push_back(value.c_str());
  gguf_set_arr_str(gguf, key, pointers.data(), pointers.size());
}

void WriteTokens(const HfVocabulary& vocabulary, gguf_context* gguf) {
  gguf_set_val_str(gguf, "tokenizer.ggml.model", vocabulary.model.c_str());
  std::vector<std::string> tokens = vocabulary.tokens;
  if (vocabulary.model == "bert") {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (vocabulary.kinds[i] == TokenKind::kNormal) tokens[i] = GgufSpelling(tokens[i]);
    }
    gguf_set_val_bool(gguf, "tokenizer.ggml.normalizer.lowercase", vocabulary.lowercase);
    gguf_set_val_bool(gguf, "tokenizer.ggml.normalizer.strip_accents", vocabulary.strip_accents);
  }
  SetStrings(gguf, "tokenizer.ggml.tokens", tokens);
  gguf_set_arr_data(gguf, "tokenizer.ggml.token_type", GGUF_TYPE_INT32, vocabulary.kinds.data(),
                    vocabulary.kinds.size());
  if (vocabulary.model == "gpt2") {
    gguf_set_val_str(gguf, "tokenizer.ggml.pre", vocabulary.pre.c_str());
    SetStrings(gguf, "tokenizer.ggml.merges", vocabulary.merges);
    gguf_set_val_str(gguf, "punt.tokenizer.normalizer", vocabulary.normalize_nfc ? "nfc" : "none");
  }
}

void WriteSpecials(const HfFolder& folder, const HfVocabulary& vocabulary, gguf_context* gguf) {
  std::optional<Token> bos;
  std::optional<Token> eos;
  const auto write = [&](const char* key, Token token) {
    gguf_set_val_u32(gguf, fmt::format("tokenizer.ggml.{}", key).c_str(), static_cast<std::uint32_t>(token));
  };
  for (const SpecialRow& row : kSpecials) {
    auto token = FindSpecial(row, folder, vocabulary);
    // BERT's vocabularies of letters end a text with their separator.
    const bool is_end = std::string_view(row.role) == "eos";
    if (is_end && !token && vocabulary.model == "esm") token = FindSpecial(kSeparator, folder, vocabulary);
    if (token) write(row.key, *token);
    if (std::string_view(row.role) == "bos") bos = token;
    if (std::string_view(row.role) == "eos") eos = token;
    // libllama has one name for the first token.
    if (std::string_view(row.role) == "cls" && vocabulary.model == "bert" && token) write("bos_token_id", *token);
  }
  if (vocabulary.model != "gpt2") return;  // BERT and ESM always have both ends

  bool add_bos = folder.tokenizer_config["add_bos_token"].BooleanOr(false);
  bool add_eos = folder.tokenizer_config["add_eos_token"].BooleanOr(false);
  const auto end_token = [&](const std::string& text) -> std::optional<Token> {
    if (text.empty()) return std::nullopt;
    const auto token = vocabulary.Find(text);
    if (!token) BadInput("{}: post_processor: names the unknown token '{}'", vocabulary.origin, text);
    return token;
  };
  if (const auto prefix = end_token(vocabulary.prefix)) {
    bos = prefix;
    add_bos = true;
    write("bos_token_id", *prefix);
  }
  if (const auto suffix = end_token(vocabulary.suffix)) {
    add_eos = suffix == eos;
    gguf_set_val_bool(gguf, "tokenizer.ggml.add_sep_token", !add_eos);
    if (!add_eos) write("seperator_token_id", *suffix);
  }
  if (add_bos && !bos) folder.tokenizer_config["add_bos_token"].Refuse("is true, but no bos_token is named");
  if (add_eos && !eos) folder.tokenizer_config["add_eos_token"].Refuse("is true, but no eos_token is named");
  gguf_set_val_bool(gguf, "tokenizer.ggml.add_bos_token", add_bos);
  gguf_set_val_bool(gguf, "tokenizer.ggml.add_eos_token", add_eos);
}

bool IsEsm(const HfFolder& folder) {
  return folder.tokenizer_config["tokenizer_class"].StringOr("") == "EsmTokenizer" ||
         folder.config["model_type"].StringOr("") == "esm";
}

/// Nothing when the folder has no tokenizer.
std::optional<HfVocabulary> ReadVocabulary(const fs::path& path, const HfFolder& folder) {
  const fs::path json = path / "tokenizer.json";
  if (fs::exists(json)) return ParseTokenizerJson(ReadWholeFile(json), json.string());
  if (fs::exists(path / "vocab.json") && fs::exists(path / "merges.txt")) {
    return ReadBpeFiles(path, folder.tokenizer_config, folder.config["model_type"].StringOr(""));
  }
  const fs::path list = path / "vocab.txt";
  if (!fs::exists(list)) return std::nullopt;
  const bool is_letters = IsEsm(folder) || IsVocabOfLetters(list);
  return is_letters ? ReadEsmVocab(list) : ReadBertVocab(list, folder.tokenizer_config);
}

}  // namespace

void AddHfTokenizer(const fs::path& folder, Metadata& metadata) {
  const HfFolder files{.config = HfJson::ReadOptional(folder / "config.json"),
                       .tokenizer_config = HfJson::ReadOptional(folder / "tokenizer_config.json"),
                       .special_map = HfJson::ReadOptional(folder / "special_tokens_map.json")};
  std::optional<HfVocabulary> vocabulary = ReadVocabulary(folder, files);
  if (!vocabulary) return;
  FillGaps(files.config, *vocabulary);
  const std::string chat_template = ReadChatTemplate(folder, files.tokenizer_config);
  WriteTokens(*vocabulary, metadata.raw());
  WriteSpecials(files, *vocabulary, metadata.raw());
  if (!chat_template.empty()) gguf_set_val_str(metadata.raw(), "tokenizer.chat_template", chat_template.c_str());
}

}  // namespace punt
