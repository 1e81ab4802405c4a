// Byte-level BPE of a tokenizer.json as GGUF's "gpt2" vocabulary. GGUF does not hold the pattern that splits a text
// into words before merging: it holds the name by which libllama knows the pattern. llama.cpp's own converter finds the
// name by a hash over the tokens of a test text; here the pattern itself is looked up, so that a new model with a known
// pattern needs no new row, and the error for a new pattern shows it.
#include <fmt/ranges.h>

#include <array>

#include "base/check.h"
#include "text/hf_vocabulary.h"

namespace punt {
namespace {

struct PatternRow {
  const char* pre;
  bool ignore_merges;  // libllama ties it to the name
  const char* pattern;
};

constexpr PatternRow kPatterns[] = {
    {"qwen2", false,
     R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    {"bailingmoe", false,
     R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)"},
    {"llama-bpe", true,
     R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
};
constexpr const char* kGpt2 = "gpt-2";     // the pattern of ByteLevel itself
constexpr const char* kSmollm = "smollm";  // splits digits first, then as ByteLevel

[[noreturn]] void RefusePattern(const HfJson& pattern, const std::string& text) {
  std::vector<std::string> known;
  for (const PatternRow& row : kPatterns) known.push_back(fmt::format("{} /{}/", row.pre, row.pattern));
  known.emplace_back("gpt-2 (ByteLevel alone)");
  known.emplace_back("smollm (Digits, ByteLevel)");
  pattern.Refuse(fmt::format("the pattern /{}/ is not supported; supported: {}", text, fmt::join(known, "; ")));
}

const PatternRow& FindPattern(const HfJson& split) {
  const HfJson pattern = split["pattern"]["Regex"];
  const std::string text = pattern.String();
  if (split["behavior"].StringOr("Isolated") != "Isolated") split["behavior"].Refuse("must be Isolated");
  if (split["invert"].BooleanOr(false)) split["invert"].Refuse("must be false");
  for (const PatternRow& row : kPatterns) {
    if (text == row.pattern) return row;
  }
  RefusePattern(pattern, text);
}

std::vector<HfJson> Steps(const HfJson& pre_tokenizer) {
  if (pre_tokenizer["type"].String() != "Sequence") return {pre_tokenizer};
  std::vector<HfJson> steps;
  const HfJson list = pre_tokenizer["pretokenizers"];
  for (std::size_t i = 0; i < list.Size(); ++i) steps.push_back(list.At(i));
  return steps;
}

/// The name of the pre-tokenizer.
std::string ReadPre(const HfJson& tokenizer, bool ignore_merges) {
  const HfJson pre_tokenizer = tokenizer["pre_tokenizer"];
  if (pre_tokenizer.IsNull()) pre_tokenizer.Refuse("is missing; byte-level BPE has one");
  const std::vector<HfJson> steps = Steps(pre_tokenizer);
  std::vector<std::string> types;
  types.reserve(steps.size());
  for (const HfJson& step : steps) types.push_back(step["type"].String());
  if (types.empty() || types.back() != "ByteLevel") {
    pre_tokenizer.Refuse(fmt::format("must end in ByteLevel, is [{}]", fmt::join(types, ", ")));
  }
  const HfJson& bytes = steps.back();
  if (bytes["add_prefix_space"].BooleanOr(true)) bytes["add_prefix_space"].Refuse("true is not supported");
  const bool uses_pattern = bytes["use_regex"].BooleanOr(true);

  const PatternRow* row = nullptr;
  std::string pre;
  if (types.size() == 1 && uses_pattern) {
    pre = kGpt2;
  } else if (types.size() == 2 && types[0] == "Split" && !uses_pattern) {
    row = &FindPattern(steps[0]);
    pre = row->pre;
  } else if (types.size() == 2 && types[0] == "Digits" && uses_pattern) {
    if (!steps[0]["individual_digits"].BooleanOr(false)) steps[0]["individual_digits"].Refuse("must be true");
    pre = kSmollm;
  } else {
    pre_tokenizer.Refuse(
        fmt::format("[{}] is not supported; supported: [ByteLevel], [Split, ByteLevel without "
                    "use_regex], [Digits, ByteLevel]",
                    fmt::join(types, ", ")));
  }
  if (ignore_merges != (row != nullptr && row->ignore_merges)) {
    tokenizer["model"]["ignore_merges"].Refuse(fmt::format("{} is not supported for '{}'", ignore_merges, pre));
  }
  return pre;
}

bool ReadNfc(const HfJson& normalizer) {
  if (normalizer.IsNull()) return false;
  const std::string type = normalizer["type"].String();
  if (type == "NFC") return true;
  if (type != "Sequence") normalizer["type"].Refuse(fmt::format("'{}' is not supported; supported: NFC", type));
  bool is_nfc = false;
  const HfJson list = normalizer["normalizers"];
  for (std::size_t i = 0; i < list.Size(); ++i) is_nfc = ReadNfc(list.At(i)) || is_nfc;
  return is_nfc;
}

/// "a b" from either form, with both parts and their sum in the vocabulary.
std::string ReadMerge(const HfJson& merge, const HfVocabulary& vocabulary) {
  std::string left;
  std::string right;
  if (merge.IsString()) {
    const std::string text = merge.String();
    const std::size_t space = text.find(' ');
    if (space == std::string::npos) merge.Refuse(fmt::format("'{}' is not a pair", text));
    left = text.substr(0, space);
    right = text.substr(space + 1);
  } else {
    if (merge.Size() != 2) merge.Refuse("must be a pair");
    left = merge.At(0).String();
    right = merge.At(1).String();
  }
  for (const std::string& token : {left, right, left + right}) {
    if (!vocabulary.Find(token)) merge.Refuse(fmt::format("names the unknown token '{}'", token));
  }
  // GGUF's form has one space between the two.
  if ((left + right).find(' ') != std::string::npos) merge.Refuse("a token with a space cannot be merged");
  return left + " " + right;
}

}  // namespace

HfVocabulary ReadHfBpe(const HfJson& tokenizer) {
  HfVocabulary vocabulary;
  vocabulary.origin = tokenizer.origin();
  vocabulary.model = "gpt2";
  const HfJson model = tokenizer["model"];
  if (model["byte_fallback"].BooleanOr(false)) model["byte_fallback"].Refuse("true is not supported");
  for (const char* field : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!model[field].StringOr("").empty()) model[field].Refuse("must be empty");
  }
  const HfJson vocab = model["vocab"];
  for (const auto& [text, id] : vocab.Object().items()) {
    vocabulary.Add(text, vocab[text].Integer(), TokenKind::kNormal);
  }
  const HfJson merges = model["merges"];
  vocabulary.merges.reserve(merges.Size());
  for (std::size_t i = 0; i < merges.Size(); ++i) vocabulary.merges.push_back(ReadMerge(merges.At(i), vocabulary));
  AddAddedTokens(tokenizer, vocabulary);
  vocabulary.pre = ReadPre(tokenizer, model["ignore_merges"].BooleanOr(false));
  vocabulary.normalize_nfc = ReadNfc(tokenizer["normalizer"]);
  return vocabulary;
}

}  // namespace punt
