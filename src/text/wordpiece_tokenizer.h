// BERT's WordPiece.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "punt/tokenizer.h"
#include "text/contextual_tokenizer.h"
#include "text/special_tokens.h"
#include "text/vocabulary_keys.h"

namespace punt {

struct WordPieceOptions {
  bool lowercase = true;
  bool strip_accents = true;
  std::size_t max_word_characters = 100;  // a longer word is one [UNK]
};

/// As Hugging Face's BertTokenizer. Encode loses case, accents and spacing; Decode writes words with one space
/// between them and none before . , ! ? and around apostrophes, so Encode(Decode(x)) is x for all x that Encode
/// gives, [UNK] aside. Text after a hole continues a word if it begins with a letter: "[hole]ing" is ##ing if
/// the vocabulary has it; so punctuation in a hole needs a space after it. A piece inside a word is shown as
/// ##piece. Const; share freely.
class WordPieceTokenizer : public ContextualTokenizer {
 public:
  /// Throws Error when [CLS], [SEP] or [UNK] is missing.
  WordPieceTokenizer(VocabularyKeys keys, WordPieceOptions options);

  using Tokenizer::Encode;
  std::vector<Token> Encode(std::string_view text, const EncodeOptions& options) const override;
  std::string Decode(std::span<const Token> tokens) const override;
  std::string Piece(Token token) const override;
  int contexts() const override { return 3; }  // the last: after an apostrophe
  int ContextAfter(Token token) const override;
  std::string TextIn(int context, Token token) const override;
  bool IsControl(Token token) const override { return keys_.IsControl(token); }
  std::vector<Token> Prefix() const override { return {cls_}; }
  std::vector<Token> Suffix() const override { return {separator_}; }

 private:
  enum class Role : char { kWord, kInside, kWhole };  // begins a word, continues one, stands for itself

  void AddToken(Token token);
  std::u32string Normalized(std::string_view text) const;
  /// `goes_on`: a word at the very beginning of the text continues one that began before it.
  void EncodePlain(std::string_view text, bool goes_on, std::vector<Token>& tokens) const;
  void EncodeWord(std::u32string_view word, std::vector<Token>& tokens) const;
  /// Appends the pieces; false, and nothing, when one is missing.
  bool CutWord(std::u32string_view word, bool goes_on, std::vector<Token>& tokens) const;

  VocabularyKeys keys_;
  WordPieceOptions options_;
  Token cls_;
  Token separator_;
  Token unknown_;
  SpecialTokens specials_;
  SpecialTokens added_words_;
  std::vector<Role> roles_;
  std::vector<std::string> texts_;  // of the tokens, without marks
  std::unordered_map<std::u32string, Token> words_;
  std::unordered_map<std::u32string, Token> insides_;
  std::size_t longest_ = 0;  // characters
};

}  // namespace punt
