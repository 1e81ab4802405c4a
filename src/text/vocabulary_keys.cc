#include "text/vocabulary_keys.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "text/utf8.h"

namespace punt {
namespace {

constexpr std::array<std::string_view, 4> kModels = {"gpt2", "llama", "bert", "esm"};

// The names of the mask in released models whose files do not say which token it is.
constexpr std::array<std::string_view, 7> kMaskNames = {"<|mdm_mask|>",   "<|mask|>", "<|MASK|>", "|<MASK>|",
                                                        "<[MASK_TOKEN]>", "[MASK]",   "<mask>"};

// Their tokenizer.json normalises to NFC, which GGUF has no key for: files of other converters do not say it.
constexpr std::array<std::string_view, 4> kNfcPres = {"qwen2", "bailingmoe", "bailingmoe2", "llada-moe"};

template <typename List>
bool Holds(const List& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

void ReadTokens(const Metadata& metadata, VocabularyKeys& keys) {
  constexpr const char* kTokens = "tokenizer.ggml.tokens";
  keys.tokens = metadata.Strings(kTokens);
  if (keys.tokens.empty()) BadInput("{}: key '{}' is empty", keys.origin, kTokens);
  keys.token_of.reserve(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::string& text = keys.tokens[i];
    if (text.empty()) text = fmt::format("[EMPTY_{}]", i);  // libllama's name for it
    if (InvalidUtf8(text) != std::string_view::npos) {
      BadInput("{}: key '{}': entry {} is not valid UTF-8", keys.origin, kTokens, i);
    }
    const auto [other, is_new] = keys.token_of.emplace(text, static_cast<Token>(i));
    if (!is_new) {
      BadInput("{}: key '{}': entries {} and {} are both '{}'", keys.origin, kTokens, other->second, i, text);
    }
  }
}

void ReadKinds(const Metadata& metadata, VocabularyKeys& keys) {
  constexpr const char* kKinds = "tokenizer.ggml.token_type";
  keys.kinds.assign(keys.size(), TokenKind::kNormal);
  if (!metadata.Has(kKinds)) return;
  const std::vector<std::int64_t> kinds = metadata.Integers(kKinds);
  if (kinds.size() != keys.size()) {
    BadInput("{}: key '{}' has {} entries for {} tokens", keys.origin, kKinds, kinds.size(), keys.size());
  }
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] < 0 || kinds[i] > 6) BadInput("{}: key '{}': entry {} is {}", keys.origin, kKinds, i, kinds[i]);
    keys.kinds[i] = kinds[i] == 0 ? TokenKind::kNormal : static_cast<TokenKind>(kinds[i]);
    if (keys.kinds[i] == TokenKind::kByte && keys.model != "llama") {
      BadInput("{}: key '{}': entry {} is a byte, which a '{}' vocabulary does not have", keys.origin, kKinds, i,
               keys.model);
    }
  }
}

/// For each character that stands for no byte, libllama writes out the whole token: the result grows with the square of
/// the token's length. Such characters hardly ever occur, and in long tokens only by malice.
void CheckByteLetters(const VocabularyKeys& keys) {
  constexpr std::size_t kHarmless = 128;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys.kinds[i] != TokenKind::kNormal || keys.tokens[i].size() <= kHarmless) continue;
    for (char32_t code : CodePoints(keys.tokens[i])) {
      // GPT-2's letters for the 256 bytes: the printable ones of Latin-1, and as many from U+0100 on as are missing.
      const bool is_byte = (code >= '!' && code <= '~') || (code >= 0xA1 && code <= 0x143 && code != 0xAD);
      if (is_byte) continue;
      BadInput("{}: key 'tokenizer.ggml.tokens': entry {} of {} bytes holds U+{:04X}, which stands for no byte",
               keys.origin, i, keys.tokens[i].size(), static_cast<std::uint32_t>(code));
    }
  }
}

void ReadIds(const Metadata& metadata, VocabularyKeys& keys) {
  const std::pair<const char*, std::optional<Token>*> ids[] = {
      {"bos_token_id", &keys.bos},         {"eos_token_id", &keys.eos},
      {"eot_token_id", &keys.eot},         {"padding_token_id", &keys.pad},
      {"unknown_token_id", &keys.unknown}, {"mask_token_id", &keys.mask},
      {"cls_token_id", &keys.cls},         {"seperator_token_id", &keys.separator}};
  for (const auto& [name, id] : ids) {
    const std::string key = std::string("tokenizer.ggml.") + name;
    if (!metadata.Has(key)) continue;
    const std::int64_t value = metadata.Integer(key);
    if (value < 0 || value >= static_cast<std::int64_t>(keys.size())) {
      BadInput("{}: key '{}' is {}, outside the vocabulary of {}", keys.origin, key, value, keys.size());
    }
    *id = static_cast<Token>(value);
  }
  for (std::string_view name : kMaskNames) {
    if (!keys.mask) keys.mask = keys.Find(name);
  }
  if (keys.model == "bert") {  // names that never change
    if (!keys.cls) keys.cls = keys.bos ? keys.bos : keys.Find("[CLS]");
    if (!keys.separator) keys.separator = keys.Find("[SEP]");
    if (!keys.unknown) keys.unknown = keys.Find("[UNK]");
  }
}

}  // namespace

void VocabularyKeys::RequireToken(Token token) const {
  if (token < 0 || static_cast<std::size_t>(token) >= size()) {
    BadInput("token {} lies outside the vocabulary of {}", token, size());
  }
}

Token VocabularyKeys::Require(const std::optional<Token>& token, std::string_view key) const {
  if (!token) BadInput("{}: key 'tokenizer.ggml.{}' is missing", origin, key);
  return *token;
}

std::optional<Token> VocabularyKeys::Find(std::string_view text) const {
  const auto found = token_of.find(std::string(text));
  if (found == token_of.end()) return std::nullopt;
  return found->second;
}

bool VocabularyKeys::IsControl(Token token) const {
  RequireToken(token);
  if (kinds[static_cast<std::size_t>(token)] == TokenKind::kControl) return true;
  for (const std::optional<Token>& role : {bos, eos, eot, pad, cls, separator}) {
    if (role == token) return true;
  }
  return false;
}

bool VocabularyKeys::IsSpecial(Token token) const {
  const auto index = static_cast<std::size_t>(token);
  if (kinds[index] == TokenKind::kControl || kinds[index] == TokenKind::kUnknown) return true;
  for (const std::optional<Token>& role : {bos, eos, eot, pad, unknown, mask, cls, separator}) {
    if (role == token) return true;
  }
  const std::string& text = tokens[index];
  const bool has_brackets =
      (text.starts_with('<') && text.ends_with('>')) || (text.starts_with('[') && text.ends_with(']'));
  return kinds[index] == TokenKind::kUserDefined && has_brackets;
}

SpecialTokens VocabularyKeys::Specials() const {
  std::vector<SpecialTokens::Entry> entries;
  for (std::size_t i = 0; i < size(); ++i) {
    const bool is_spelled =
        kinds[i] == TokenKind::kControl || kinds[i] == TokenKind::kUserDefined || kinds[i] == TokenKind::kUnknown;
    if (is_spelled) entries.push_back({tokens[i], static_cast<Token>(i)});
  }
  return SpecialTokens(std::move(entries));
}

SpecialTokens VocabularyKeys::AddedWords() const {
  std::vector<SpecialTokens::Entry> entries;
  for (std::size_t i = 0; i < size(); ++i) {
    const auto token = static_cast<Token>(i);
    if (kinds[i] == TokenKind::kUserDefined && !IsSpecial(token)) entries.push_back({tokens[i], token});
  }
  return SpecialTokens(std::move(entries));
}

VocabularyKeys ReadVocabularyKeys(const Metadata& metadata) {
  VocabularyKeys keys;
  keys.origin = metadata.origin();
  if (!metadata.Has("tokenizer.ggml.model")) {
    BadInput("{}: there is no tokenizer: key 'tokenizer.ggml.model' is missing", keys.origin);
  }
  keys.model = metadata.String("tokenizer.ggml.model");
  if (!Holds(kModels, keys.model)) {
    BadInput("{}: key 'tokenizer.ggml.model' is '{}'; supported: {}", keys.origin, keys.model,
             fmt::join(kModels, ", "));
  }
  keys.pre = metadata.StringOr("tokenizer.ggml.pre", "");
  ReadTokens(metadata, keys);
  ReadKinds(metadata, keys);
  if (keys.model == "gpt2") CheckByteLetters(keys);
  ReadIds(metadata, keys);
  // If GGUF does not say: SentencePiece adds BOS, BERT both ends, BPE nothing.
  keys.add_bos = metadata.BooleanOr("tokenizer.ggml.add_bos_token", keys.model != "gpt2");
  keys.add_eos = metadata.BooleanOr("tokenizer.ggml.add_eos_token", keys.model == "esm");
  keys.add_separator = metadata.BooleanOr("tokenizer.ggml.add_sep_token", keys.model == "bert");
  const bool nfc_pre = keys.model == "gpt2" && Holds(kNfcPres, keys.pre);
  keys.normalize_nfc = metadata.StringOr("punt.tokenizer.normalizer", nfc_pre ? "nfc" : "none") == "nfc";
  keys.chat_template = metadata.StringOr("tokenizer.chat_template", "");
  return keys;
}

}  // namespace punt
