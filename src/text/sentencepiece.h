// SentencePiece's byte pair encoding.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "punt/types.h"
#include "text/vocabulary_keys.h"

namespace punt {

/// Const; share freely. `keys` must outlive it.
class SentencePiece {
 public:
  /// One score for each token of `keys`; the higher is merged first.
  SentencePiece(const VocabularyKeys& keys, std::vector<float> scores);

  /// Appends the tokens of valid UTF-8, spaces included, with nothing put before it. Special and byte tokens are never
  /// found by their names. False when a byte has no token.
  bool Encode(std::string_view text, std::vector<Token>& tokens) const;

 private:
  struct Symbol;
  class Merging;

  /// -1 when there is none.
  Token Find(std::string_view piece) const;

  std::unordered_map<std::string_view, Token> pieces_;
  std::vector<float> scores_;
  std::vector<Token> bytes_;  // by value; -1: none
  std::size_t longest_ = 0;   // bytes of a piece
};

}  // namespace punt
