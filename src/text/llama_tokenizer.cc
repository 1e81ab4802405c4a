// libllama loads a vocabulary as part of a model. With vocab_only and metadata of one architecture name and the
// tokenizer.* keys, the model is nothing but its vocabulary: no file is written, no tensor looked for.
//
// What is done here and not by libllama:
//
// Special tokens in the text. Hugging Face takes the leftmost, and of these the longest; libllama takes the longest
// anywhere first, in time that grows with the square of their number, and a canvas is full of them. Where they are to
// be text, the result has no special tokens, even if merges lead to one.
//
// SentencePiece (sentencepiece.cc).
//
// Texts around holes. Within a word merges never span a boundary between tokens, so a word that is cut there keeps its
// tokens on either side (sentencepiece.cc says why). But the patterns that split a text into words look ahead: the last
// character of white space before a word goes to the word or stands alone ("\n\n" before "a" is two "\n" for GPT-2, but
// one token at the end of a text). So a text that ends in white space before a hole is split as if a word followed that
// takes none of it. If it ends in a space, that belongs to the hole, and the rest is split as at the end of a text.
// After a hole the patterns begin anew, which is right unless the hole ends within a run of punctuation or digits that
// continues after it. docs/models.md has the cases in full.
//
// NFC, which Hugging Face applies to the text between special tokens.
//
// The pre-tokenizer of LLaDA and its relatives ("bailingmoe"). libllama runs its pattern by std::regex, which recurses
// once per character and overruns the stack on a long word. The pattern
//   '(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+
// matches what that of Qwen 2 matches, for which libllama has code without recursion:
//   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
// The contractions are the same set. A possessive quantifier differs from a greedy one only where giving back a
// character would help; what would be given back here (never a letter, or never a space, letter or number) cannot match
// what follows.
// And \s*[\r\n], greedy, ends at the last newline of a run of white space, as \s*[\r\n]+ does.
//
// Tested by vocabulary_test.cc, holes_test.cc and on released vocabularies by tests/tokenizer_vectors_test.cc.
#include "text/llama_tokenizer.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <stdexcept>

#include "base/check.h"
#include "text/chat_template.h"
#include "text/utf8.h"
#include "weights/ggml_log.h"

namespace punt {
namespace {

constexpr const char* kPreKey = "tokenizer.ggml.pre";
constexpr const char* kKindKey = "tokenizer.ggml.token_type";

/// The tokenizer.* keys alone, under an architecture that libllama knows.
GgufPtr TokenizerKeysOf(const Metadata& metadata, const VocabularyKeys& keys) {
  GgufPtr all(gguf_init_empty());
  gguf_set_kv(all.get(), metadata.raw());
  std::vector<std::string> others;
  for (std::int64_t i = 0; i < gguf_get_n_kv(all.get()); ++i) {
    const std::string key = gguf_get_key(all.get(), i);
    if (!key.starts_with("tokenizer.ggml.")) others.push_back(key);
  }
  for (const std::string& key : others) gguf_remove_key(all.get(), key.c_str());
  gguf_set_val_str(all.get(), "general.architecture", "llama");
  const bool is_bailing = keys.pre == "bailingmoe" || keys.pre == "bailingmoe2" || keys.pre == "llada-moe";
  if (is_bailing) gguf_set_val_str(all.get(), kPreKey, "qwen2");
  // libllama would look for user-defined tokens in every text, special or not.
  std::vector<std::int32_t> kinds;
  for (TokenKind kind : keys.kinds) {
    kinds.push_back(static_cast<std::int32_t>(kind == TokenKind::kUserDefined ? TokenKind::kControl : kind));
  }
  gguf_set_arr_data(all.get(), kKindKey, GGUF_TYPE_INT32, kinds.data(), kinds.size());
  return all;
}

llama_model* LoadModel(const Metadata& metadata, const VocabularyKeys& keys) {
  const GgmlLogCapture log;
  const GgufPtr only = TokenizerKeysOf(metadata, keys);
  llama_model_params params = llama_model_default_params();
  params.vocab_only = true;
  llama_model* model = llama_model_init_from_user(
      only.get(), [](ggml_tensor*, void*) {}, nullptr, params);
  if (model == nullptr) {
    const std::string cause = log.FirstError();
    BadInput("{}: libllama does not take the vocabulary: {}", keys.origin, cause.empty() ? "no reason given" : cause);
  }
  return model;
}

/// Of valid UTF-8; 0 when it is empty.
char32_t LastCharacter(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0 && (text[begin - 1] & 0xC0) == 0x80) --begin;
  return begin == 0 ? 0 : CodePoints(text.substr(begin - 1)).front();
}

}  // namespace

LlamaTokenizer::LlamaTokenizer(const Metadata& metadata, VocabularyKeys keys)
    : keys_(std::move(keys)),
      specials_(keys_.Specials()),
      added_words_(keys_.AddedWords()),
      model_(LoadModel(metadata, keys_)),
      vocab_(llama_model_get_vocab(model_.get())) {
  keys_.add_bos = llama_vocab_get_add_bos(vocab_);  // some pre-tokenizers have a default of their own
  keys_.add_eos = llama_vocab_get_add_eos(vocab_);
  keys_.add_separator = llama_vocab_get_add_sep(vocab_);
  if (keys_.model == "llama") {  // SentencePiece has fixed places for them; BPE's defaults are accidents
    if (!keys_.bos && llama_vocab_bos(vocab_) >= 0) keys_.bos = llama_vocab_bos(vocab_);
    if (!keys_.eos && llama_vocab_eos(vocab_) >= 0) keys_.eos = llama_vocab_eos(vocab_);
  }
  if (keys_.add_bos) keys_.Require(keys_.bos, "bos_token_id");
  if (keys_.add_eos) keys_.Require(keys_.eos, "eos_token_id");
  if (keys_.add_separator) keys_.Require(keys_.separator, "seperator_token_id");
  std::vector<float> scores;
  for (Token token = 0; token < static_cast<Token>(keys_.size()); ++token) {
    is_special_.push_back(keys_.IsSpecial(token));
    scores.push_back(llama_vocab_get_score(vocab_, token));
    longest_piece_ = std::max(longest_piece_, keys_.tokens[static_cast<std::size_t>(token)].size());
  }
  if (keys_.model == "llama") {
    sentence_piece_ = std::make_unique<SentencePiece>(keys_, std::move(scores));
    adds_space_ = metadata.BooleanOr("tokenizer.ggml.add_space_prefix", true);
  }
}

void LlamaTokenizer::NoTokens(std::string_view text) const {
  BadInput("the vocabulary of {} has no tokens for part of '{}'", keys_.origin, text.substr(0, 60));
}

void LlamaTokenizer::EncodeWords(const std::string& text, std::vector<Token>& tokens) const {
  // libllama counts in int32 and its pre-tokenizers need several times the text.
  if (text.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max() / 4)) {
    BadInput("the text has {} bytes, too many for a tokenizer", text.size());
  }
  std::vector<llama_token> found(text.size());
  std::int32_t count = 0;
  try {
    const auto size = static_cast<std::int32_t>(text.size());
    count = llama_tokenize(vocab_, text.data(), size, found.data(), size, false, false);
  } catch (const std::exception& error) {
    BadInput("libllama cannot tokenize the text: {}", error.what());
  }
  Check(count >= 0, "more tokens than bytes");
  found.resize(static_cast<std::size_t>(count));
  // A byte without a token is dropped by libllama without a word.
  if (Decode(found) != text) NoTokens(text);
  for (Token token : found) {
    if (!is_special_[static_cast<std::size_t>(token)]) {
      tokens.push_back(token);
      continue;
    }
    const std::string name = Piece(token);  // merges made it; what it consists of does not make it again
    const std::size_t first = CharacterBytes(name);
    if (first == 0 || first == name.size()) NoTokens(name);
    EncodeWords(name.substr(0, first), tokens);
    EncodeWords(name.substr(first), tokens);
  }
}

void LlamaTokenizer::EncodePlain(std::string_view text, const EncodeOptions& options,
                                 std::vector<Token>& tokens) const {
  const std::string normalized = keys_.normalize_nfc ? Nfc(text) : std::string(text);
  if (sentence_piece_ != nullptr) {
    const bool has_space = adds_space_ && !options.behind_hole;
    if (!sentence_piece_->Encode((has_space ? " " : "") + normalized, tokens)) NoTokens(text);
    return;
  }
  if (!options.before_hole || !IsWhiteSpace(LastCharacter(normalized))) return EncodeWords(normalized, tokens);
  // Nothing else begins in the middle of white space: a word that takes none of it ends it here as the hole does.
  constexpr const char* kWord = "0";
  EncodeWords(normalized + kWord, tokens);
  if (Piece(tokens.back()) != kWord) NoTokens(text);
  tokens.pop_back();
}

std::vector<Token> LlamaTokenizer::Encode(std::string_view text, const EncodeOptions& options) const {
  RequireUtf8(text);
  std::vector<Token> tokens;
  const auto encode = [&](std::string_view plain) {
    EncodeOptions own = options;
    own.behind_hole = options.behind_hole && plain.data() == text.data();
    own.before_hole = options.before_hole && plain.data() + plain.size() == text.data() + text.size();
    if (own.before_hole && plain.ends_with(' ')) {  // the hole's, unless it is the end of an added word
      plain.remove_suffix(1);
      own.before_hole = false;  // white space before another space ends as it does at the end of a text
    }
    if (!plain.empty()) EncodePlain(plain, own, tokens);
  };
  const SpecialTokens& apart = options.specials ? specials_ : added_words_;
  apart.Split(text, encode, [&](Token token) { tokens.push_back(token); });
  return tokens;
}

std::string LlamaTokenizer::Piece(Token token) const {
  keys_.RequireToken(token);
  const auto index = static_cast<std::size_t>(token);
  if (keys_.kinds[index] == TokenKind::kUnused) return keys_.tokens[index];
  std::string piece(keys_.tokens[index].size() + 16, '\0');
  const auto write = [&] {
    return llama_token_to_piece(vocab_, token, piece.data(), static_cast<std::int32_t>(piece.size()), 0, true);
  };
  std::int32_t size = write();
  if (size < 0) {  // a character that stands for no byte is spelled out: "[UNK_BYTE_0x...]"
    piece.resize(static_cast<std::size_t>(-size));
    size = write();
  }
  Check(size >= 0, "a piece longer than libllama said");
  piece.resize(static_cast<std::size_t>(size));
  return piece;
}

std::string LlamaTokenizer::TextIn(int context, Token token) const {
  std::string text = Piece(token);
  if (sentence_piece_ != nullptr && context == 0 && text.starts_with(' ')) text.erase(0, 1);
  return text;
}

std::string LlamaTokenizer::Decode(std::span<const Token> tokens) const {
  std::string text;
  for (Token token : tokens) text += Piece(token);
  // SentencePiece writes a space in front of the first word that no text had.
  if (keys_.model == "llama" && text.starts_with(' ')) text.erase(0, 1);
  return text;
}

std::vector<Token> LlamaTokenizer::Prefix() const {
  if (!keys_.add_bos) return {};
  return {*keys_.bos};
}

std::vector<Token> LlamaTokenizer::Suffix() const {
  if (keys_.add_separator) return {*keys_.separator};
  if (keys_.add_eos) return {*keys_.eos};
  return {};
}

bool LlamaTokenizer::has_thinking_switch() const {
  return keys_.chat_template.find(kThinkingVariable) != std::string::npos;
}

ToolForm LlamaTokenizer::tool_form() const { return ToolFormOf(keys_.chat_template); }

std::vector<Token> LlamaTokenizer::EncodeChatWith(std::span<const ChatMessage> messages,
                                                  const ChatOptions& options) const {
  if (keys_.chat_template.empty()) return Tokenizer::EncodeChat(messages);
  std::vector<Token> tokens;
  std::string text;  // between two special tokens of the template: its own words and the messages'
  const auto end_text = [&] {
    const std::vector<Token> more = Encode(text);
    tokens.insert(tokens.end(), more.begin(), more.end());
    text.clear();
  };
  const auto name = [&](const std::optional<Token>& token) {
    return token ? keys_.tokens[static_cast<std::size_t>(*token)] : std::string();
  };
  const ChatTemplate chat_template{
      .text = keys_.chat_template, .bos_token = name(keys_.bos), .eos_token = name(keys_.eos)};
  for (const ChatPart& part : ApplyChatTemplate(chat_template, messages, options)) {
    if (part.is_message) {
      text += part.text;
      continue;
    }
    specials_.Split(
        part.text, [&](std::string_view plain) { text += plain; },
        [&](Token token) {
          end_text();
          tokens.push_back(token);
        });
  }
  end_text();
  const bool has_bos = !tokens.empty() && tokens.front() == keys_.bos;  // the template wrote it
  if (keys_.add_bos && !has_bos) tokens.insert(tokens.begin(), *keys_.bos);
  return tokens;
}

std::vector<Token> LlamaTokenizer::EndTokens() const {
  std::vector<Token> ends;
  const auto add = [&](Token token) {
    if (std::find(ends.begin(), ends.end(), token) == ends.end()) ends.push_back(token);
  };
  if (keys_.eos) add(*keys_.eos);
  if (keys_.eot) add(*keys_.eot);
  for (Token token = 0; token < static_cast<Token>(keys_.size()); ++token) {
    // Without a key, libllama takes token 11 of any BPE vocabulary for the end: an end is a special token.
    const bool is_special = keys_.kinds[static_cast<std::size_t>(token)] != TokenKind::kNormal;
    if (is_special && token != keys_.mask && llama_vocab_is_eog(vocab_, token)) add(token);
  }
  return ends;
}

}  // namespace punt
