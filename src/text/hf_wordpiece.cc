#include <algorithm>
#include <sstream>

#include "base/check.h"
#include "text/hf_vocabulary.h"
#include "text/utf8.h"

namespace punt {
namespace {

/// One token per line; Windows line ends are not part of a token.
void ReadLines(const std::filesystem::path& file, HfVocabulary& vocabulary) {
  vocabulary.origin = file.string();
  const std::string bytes = ReadWholeFile(file);
  if (const std::size_t at = InvalidUtf8(bytes); at != std::string_view::npos) {
    BadInput("{}: not valid UTF-8 at byte {}", vocabulary.origin, at);
  }
  std::istringstream lines(bytes);
  std::int64_t id = 0;
  for (std::string line; std::getline(lines, line); ++id) {
    if (line.ends_with('\r')) line.pop_back();
    vocabulary.Add(line, id, TokenKind::kNormal);
  }
  if (vocabulary.tokens.empty()) BadInput("{}: has no tokens", vocabulary.origin);
}

void Mark(const char* text, TokenKind kind, HfVocabulary& vocabulary) {
  const auto token = vocabulary.Find(text);
  if (token) vocabulary.kinds[static_cast<std::size_t>(*token)] = kind;
}

bool IsBracketed(const std::string& text) { return text.starts_with('[') && text.ends_with(']'); }

/// Lower-casing would make tokens with capitals unreachable.
bool HasCapitals(const HfVocabulary& vocabulary) {
  return std::any_of(vocabulary.tokens.begin(), vocabulary.tokens.end(), [](const std::string& text) {
    const auto is_capital = [](char letter) { return letter >= 'A' && letter <= 'Z'; };
    return !IsBracketed(text) && std::any_of(text.begin(), text.end(), is_capital);
  });
}

void MarkBertSpecials(HfVocabulary& vocabulary) {
  for (const char* name : {"[PAD]", "[CLS]", "[SEP]", "[MASK]", "[UNK]"}) Mark(name, TokenKind::kControl, vocabulary);
}

}  // namespace

HfVocabulary ReadHfWordPiece(const HfJson& tokenizer) {
  HfVocabulary vocabulary;
  vocabulary.origin = tokenizer.origin();
  vocabulary.model = "bert";
  const HfJson model = tokenizer["model"];
  if (model["continuing_subword_prefix"].StringOr("##") != "##") {
    model["continuing_subword_prefix"].Refuse("must be ##");
  }
  const HfJson limit = model["max_input_chars_per_word"];
  if (!limit.IsNull() && limit.Integer() != 100) limit.Refuse("must be 100");
  const HfJson vocab = model["vocab"];
  for (const auto& [text, id] : vocab.Object().items()) {
    vocabulary.Add(text, vocab[text].Integer(), TokenKind::kNormal);
  }
  AddAddedTokens(tokenizer, vocabulary);

  const HfJson normalizer = tokenizer["normalizer"];
  if (normalizer.IsNull() || normalizer["type"].String() != "BertNormalizer") {
    normalizer.Refuse("must be a BertNormalizer");
  }
  for (const char* field : {"clean_text", "handle_chinese_chars"}) {
    if (!normalizer[field].BooleanOr(true)) normalizer[field].Refuse("must be true");
  }
  vocabulary.lowercase = normalizer["lowercase"].BooleanOr(true);
  vocabulary.strip_accents = normalizer["strip_accents"].BooleanOr(vocabulary.lowercase);
  const HfJson pre_tokenizer = tokenizer["pre_tokenizer"];
  if (pre_tokenizer.IsNull() || pre_tokenizer["type"].String() != "BertPreTokenizer") {
    pre_tokenizer.Refuse("must be a BertPreTokenizer");
  }
  return vocabulary;
}

HfVocabulary ReadHfLetters(const HfJson& tokenizer) {
  HfVocabulary vocabulary;
  vocabulary.origin = tokenizer.origin();
  vocabulary.model = "esm";
  const HfJson vocab = tokenizer["model"]["vocab"];
  for (const auto& [text, id] : vocab.Object().items()) {
    vocabulary.Add(text, vocab[text].Integer(), TokenKind::kNormal);
  }
  AddAddedTokens(tokenizer, vocabulary);
  return vocabulary;
}

HfVocabulary ReadBertVocab(const std::filesystem::path& file, const HfJson& config) {
  HfVocabulary vocabulary;
  vocabulary.model = "bert";
  ReadLines(file, vocabulary);
  MarkBertSpecials(vocabulary);
  vocabulary.lowercase = config["do_lower_case"].BooleanOr(!HasCapitals(vocabulary));
  vocabulary.strip_accents = config["strip_accents"].BooleanOr(vocabulary.lowercase);
  return vocabulary;
}

bool IsVocabOfLetters(const std::filesystem::path& file) {
  constexpr std::size_t kLongest = 3;  // atoms (Cl), ring bonds (%12), the arrow of a reaction (>>)
  HfVocabulary vocabulary;
  ReadLines(file, vocabulary);
  bool has_letters = false;
  for (const std::string& text : vocabulary.tokens) {
    if (IsBracketed(text) || (text.starts_with('<') && text.ends_with('>'))) continue;
    if (text.starts_with("##") || text.size() > kLongest) return false;
    has_letters = has_letters || text.size() == 1;
  }
  return has_letters;
}

HfVocabulary ReadEsmVocab(const std::filesystem::path& file) {
  HfVocabulary vocabulary;
  vocabulary.model = "esm";
  ReadLines(file, vocabulary);
  for (const std::string& text : vocabulary.tokens) {
    if (text.starts_with('<') && text.ends_with('>')) Mark(text.c_str(), TokenKind::kControl, vocabulary);
  }
  MarkBertSpecials(vocabulary);  // other tokens in brackets may be letters, such as atoms of a molecule
  return vocabulary;
}

}  // namespace punt
