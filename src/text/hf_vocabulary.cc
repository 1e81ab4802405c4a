#include "text/hf_vocabulary.h"

#include "base/check.h"

namespace punt {
namespace {

// Far above any vocabulary: a larger id means a damaged file, and the gap below it would cost memory.
constexpr std::int64_t kMaxTokens = std::int64_t{1} << 22;

/// The name of the first or last special token in the "single" form of a template.
void ReadTemplate(const HfJson& single, HfVocabulary& vocabulary) {
  bool before_text = true;
  for (std::size_t i = 0; i < single.Size(); ++i) {
    const HfJson item = single.At(i);
    const HfJson special = item["SpecialToken"];
    if (special.IsNull()) {
      before_text = false;
      continue;
    }
    std::string& place = before_text ? vocabulary.prefix : vocabulary.suffix;
    if (!place.empty()) item.Refuse("more than one token before or after a text is not supported");
    place = special["id"].String();
  }
}

void ReadPostProcessor(const HfJson& processor, HfVocabulary& vocabulary) {
  if (processor.IsNull()) return;
  const std::string type = processor["type"].String();
  if (type == "Sequence") {
    const HfJson list = processor["processors"];
    for (std::size_t i = 0; i < list.Size(); ++i) ReadPostProcessor(list.At(i), vocabulary);
  } else if (type == "TemplateProcessing") {
    ReadTemplate(processor["single"], vocabulary);
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    for (const char* name : {"cls", "sep"}) {
      if (processor[name].Size() != 2) processor[name].Refuse("must be a token and its id");
    }
    vocabulary.prefix = processor["cls"].At(0).String();
    vocabulary.suffix = processor["sep"].At(0).String();
  } else if (type != "ByteLevel") {  // which only moves offsets
    processor["type"].Refuse(fmt::format("'{}' is not supported", type));
  }
}

/// Letters without spaces between them, as BPE: without merges (ESM C), or with those that put atoms together from
/// characters, whose words a program of its own splits into atoms (SAFE, for GenMol). Texts in words have ByteLevel.
bool IsJsonOfLetters(const HfJson& tokenizer, const std::string& type) {
  const HfJson words = tokenizer["pre_tokenizer"];
  if (type != "BPE" || tokenizer["model"]["byte_fallback"].BooleanOr(false)) return false;
  if (words.IsNull()) return tokenizer["model"]["merges"].Size() == 0;
  return words["type"].StringOr("") == "Whitespace" && tokenizer["custom_pre_tokenizer"].BooleanOr(false);
}

}  // namespace

void HfVocabulary::Add(const std::string& text, std::int64_t id, TokenKind kind) {
  if (text.empty()) BadInput("{}: token {} is empty", origin, id);
  if (text.find('\0') != std::string::npos) BadInput("{}: token {} holds a zero byte", origin, id);
  if (id < 0 || id >= kMaxTokens) BadInput("{}: token '{}' has the id {}", origin, text, id);
  const auto index = static_cast<std::size_t>(id);
  if (index >= tokens.size()) {
    tokens.resize(index + 1);
    kinds.resize(index + 1, TokenKind::kUnused);
  }
  if (!tokens[index].empty()) {
    BadInput("{}: tokens '{}' and '{}' have the same id {}", origin, tokens[index], text, id);
  }
  const auto [other, is_new] = token_of.emplace(text, static_cast<Token>(id));
  if (!is_new) BadInput("{}: token '{}' has the ids {} and {}", origin, text, other->second, id);
  tokens[index] = text;
  kinds[index] = kind;
}

std::optional<Token> HfVocabulary::Find(const std::string& text) const {
  const auto found = token_of.find(text);
  if (found == token_of.end()) return std::nullopt;
  return found->second;
}

void AddAddedTokens(const HfJson& tokenizer, HfVocabulary& vocabulary) {
  const HfJson list = tokenizer["added_tokens"];
  if (list.IsNull()) return;
  for (std::size_t i = 0; i < list.Size(); ++i) {
    const HfJson item = list.At(i);
    const std::string text = item["content"].String();
    const std::int64_t id = item["id"].Integer();
    const TokenKind kind = item["special"].BooleanOr(false) ? TokenKind::kControl : TokenKind::kUserDefined;
    // Many are already in the vocabulary.
    if (const auto known = vocabulary.Find(text); known && *known == id) {
      vocabulary.kinds[static_cast<std::size_t>(id)] = kind;
    } else {
      vocabulary.Add(text, id, kind);
    }
  }
}

HfVocabulary ParseTokenizerJson(std::string_view bytes, const std::string& origin) {
  const HfJson tokenizer = HfJson::Parse(bytes, origin);
  const HfJson model = tokenizer["model"];
  if (!model.IsObject()) model.Refuse(model.IsNull() ? "is missing" : "must be an object");
  // Old files do not name the type; only BPE has merges.
  const std::string type = model["type"].StringOr(model["merges"].IsNull() ? "WordPiece" : "BPE");
  if (type != "BPE" && type != "WordPiece") {
    model["type"].Refuse(fmt::format("'{}' is not supported; supported: BPE, WordPiece", type));
  }
  HfVocabulary vocabulary = IsJsonOfLetters(tokenizer, type) ? ReadHfLetters(tokenizer)
                            : type == "BPE"                  ? ReadHfBpe(tokenizer)
                                                             : ReadHfWordPiece(tokenizer);
  if (vocabulary.tokens.empty()) model["vocab"].Refuse("is empty");
  ReadPostProcessor(tokenizer["post_processor"], vocabulary);
  return vocabulary;
}

}  // namespace punt
