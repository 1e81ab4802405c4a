// Texts with holes at random places, for tests of tokenizers.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "punt/tokenizer.h"
#include "text/utf8.h"

namespace punt::testing {

using Tokens = std::vector<Token>;

/// A text of which some tokens, at least one, are a hole. `before` and `after` are written as a user writes them:
/// before + "[MASK:n]" + after.
struct Hole {
  std::string whole;
  Tokens tokens;  // of the whole text
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string before;
  std::string middle;
  std::string after;

  Tokens TokensBefore() const { return {tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(begin)}; }
  Tokens TokensAfter() const { return {tokens.begin() + static_cast<std::ptrdiff_t>(end), tokens.end()}; }
  std::string Written() const { return before + "[MASK:" + std::to_string(end - begin) + "]" + after; }
};

inline bool KeepsTokensBefore(const Tokenizer& tokenizer, const Hole& hole) {
  return tokenizer.Encode(hole.before, {.before_hole = true}) == hole.TokensBefore();
}

inline bool KeepsTokensAfter(const Tokenizer& tokenizer, const Hole& hole) {
  return tokenizer.Encode(hole.after, {.behind_hole = true}) == hole.TokensAfter();
}

/// Ordinary sentences, and what tokenizers trip over: runs of spaces and lines, contractions, digits, code, accents,
/// scripts without spaces, characters that no vocabulary has.
inline std::vector<std::string> HoleTexts(int mixtures) {
  std::vector<std::string> texts = {
      "Tom found a red ball. He gave it to his mom.",
      "Once upon a time, there was a little girl named Lily. She loved to play outside in the park.",
      "\"Don't go!\" she said, and they'd never seen it's like; we'll see who's right.",
      "Line one.\nLine two.\n\nA new paragraph:\n\n\n  - an item (with 3 words),\n  - another [1], {2}.\n",
      "for (int i = 0; i < 10; ++i) {\n    sum += values[i] * 3.14159;\n\tprintf(\"%d\\n\", sum);\n}\n",
      "It costs $1,234,567.89 (about 99.5%) on 2024-12-31 at 23:59:59.",
      "na\u00efve caf\u00e9 \u2014 \u201cquoted\u201d \u2026 \u65e5\u672c\u8a9e\u306e\u6587\u7ae0\u3067\u3059\u3002 "
      "\U0001F642 ok",
      "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440! \u0645\u0631\u062d\u0628\u0627 \u0628\u0643\u0645.  "
      "two  spaces   three",
      "unbelievably antidisestablishmentarian walking's end...?!?!!! (((nested))) <b>bold</b>",
  };
  const std::vector<std::string> alphabet = {
      "a",   "the",    " the", " ",        "  ",  "\n", "\n\n",   "\t",     ".",          ",",       "!?",     "'s",
      "'ll", " 12",    "345",  "7",        " (",  ")",  "\u00e9", "\u65e5", "\U0001F642", "ing",     "un",     "-",
      "...", "\u00a0", "\"",   " walking", "Tom", " x", "\r\n",   "_",      "\U0001D54F", " \u65e5", "\u0301", "'"};
  std::mt19937_64 random(11);
  for (int i = 0; i < mixtures; ++i) {
    std::string text;
    for (std::size_t left = random() % 16 + 2; left > 0; --left) text += alphabet[random() % alphabet.size()];
    texts.push_back(text);
  }
  return texts;
}

/// Fills `whole`, `tokens`, `begin` and `end` of holes at random places.
inline std::vector<Hole> RandomHoles(const Tokenizer& tokenizer, const std::vector<std::string>& texts, int per_text) {
  std::vector<Hole> holes;
  std::mt19937_64 random(5);
  for (const std::string& text : texts) {
    const Tokens tokens = tokenizer.Encode(text);
    for (int i = 0; i < per_text && !tokens.empty(); ++i) {
      const std::size_t begin = random() % tokens.size();
      const std::size_t size = random() % std::min<std::size_t>(tokens.size() - begin, 6) + 1;
      holes.push_back({.whole = text, .tokens = tokens, .begin = begin, .end = begin + size});
    }
  }
  return holes;
}

/// Writes the parts of a hole for tokenizers whose pieces, one behind the other, are the text. False when the hole
/// begins or ends within a character: that cannot be written.
inline bool Write(const Tokenizer& tokenizer, Hole& hole) {
  std::string parts[3];
  for (std::size_t i = 0; i < hole.tokens.size(); ++i) {
    parts[i < hole.begin ? 0 : i < hole.end ? 1 : 2] += tokenizer.Piece(hole.tokens[i]);
  }
  const bool is_longer = parts[0].size() + parts[1].size() + parts[2].size() > hole.whole.size();
  if (is_longer) {  // SentencePiece's space in front
    std::string& first = hole.begin > 0 ? parts[0] : parts[1];
    first.erase(0, 1);
  }
  hole.before = parts[0];
  hole.middle = parts[1];
  hole.after = parts[2];
  // The space that the hole begins with is written before it; so is one that it does not have, behind a space that it
  // must not take.
  if (hole.middle.starts_with(' ') || hole.before.ends_with(' ')) hole.before += ' ';
  return InvalidUtf8(parts[0]) == std::string_view::npos && InvalidUtf8(parts[2]) == std::string_view::npos;
}

}  // namespace punt::testing
