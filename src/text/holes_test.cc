// A text keeps its tokens around a hole: with the hole's own tokens put back, the tokens are those of the whole text.
// Texts, places and sizes are random, for every tokenizer there is. What cannot hold is named here, case by case: where
// two different tokenisations are written the same way around the hole, only one of them can come out.
#include <gtest/gtest.h>
#include <utf8proc.h>

#include "base/test_data_testing.h"
#include "text/holes_testing.h"
#include "text/tokenizers_testing.h"

namespace punt {
namespace {

using testing::Hole;
using testing::NamedTokenizer;
using testing::Tokens;

constexpr int kMixtures = 250;
constexpr int kHolesPerText = 12;

char32_t First(const std::string& text) { return text.empty() ? 0 : CodePoints(text).front(); }
char32_t Last(const std::string& text) { return text.empty() ? 0 : CodePoints(text).back(); }

/// [^\s\p{L}\p{N}] of the patterns that split texts into words.
bool IsMark(char32_t code) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
  const bool is_letter = category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
  const bool is_number = category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
  return code != 0 && !IsWhiteSpace(code) && !is_letter && !is_number;
}

/// White space is one word, or gives its last character away, by what follows it. A space that is written before a hole
/// is the hole's, so the hole begins with it; a hole that begins with other white space, or with none behind a space of
/// the text's own, is written like one that begins with a word.
bool BeginsWithinSpace(const Hole& hole) {
  const bool owns_space = hole.middle.starts_with(' ');
  const std::string own = hole.before.ends_with(' ') ? hole.before.substr(0, hole.before.size() - 1) : hole.before;
  if (own.empty() || !IsWhiteSpace(Last(own))) return false;
  return own.ends_with(' ') ? !owns_space : IsWhiteSpace(First(hole.middle)) && !owns_space;
}

/// A run of punctuation is one word, whose rest alone may be read otherwise: "!'s" is "!'" and "s", behind a hole "'s".
bool EndsWithinMarks(const Hole& hole) { return IsMark(Last(hole.middle)) && IsMark(First(hole.after)); }

/// SentencePiece's space in front of a text, where it is a token of its own, belongs to a hole at the beginning.
bool BeginsBehindTheFirstSpace(const NamedTokenizer& tokenizer, const Hole& hole) {
  return hole.begin == 1 && tokenizer->Piece(hole.tokens.front()) == " ";
}

/// Of the holes.
struct Count {
  int holes = 0;
  int lost = 0;        // other tokens, in one of the cases above
  int unwritable = 0;  // the hole cuts a character
};

Count CheckHoles(const NamedTokenizer& tokenizer) {
  Count count;
  int reported = 0;
  for (Hole& hole : testing::RandomHoles(*tokenizer, testing::HoleTexts(kMixtures), kHolesPerText)) {
    ++count.holes;
    if (!Write(*tokenizer, hole)) {
      ++count.unwritable;
      continue;
    }
    const bool is_pieces = tokenizer.kind == "llama";
    const bool open_before = is_pieces ? BeginsBehindTheFirstSpace(tokenizer, hole) : BeginsWithinSpace(hole);
    const bool open_after = !is_pieces && EndsWithinMarks(hole);
    const bool keeps_before = KeepsTokensBefore(*tokenizer, hole);
    const bool keeps_after = KeepsTokensAfter(*tokenizer, hole);
    count.lost += !keeps_before || !keeps_after;
    const bool keeps = (keeps_before || open_before) && (keeps_after || open_after);
    if (!keeps && ++reported <= 5) ADD_FAILURE() << tokenizer.name << ": " << hole.Written() << "  <-  " << hole.middle;
  }
  return count;
}

/// Checks the tokenizers whose pieces are the text.
void CheckPieces(const std::vector<NamedTokenizer>& tokenizers) {
  for (const NamedTokenizer& tokenizer : tokenizers) {
    if (tokenizer.kind != "llama" && tokenizer.kind != "gpt2") continue;
    const Count count = CheckHoles(tokenizer);
    EXPECT_GT(count.holes, 2500) << tokenizer.name;
    EXPECT_LT(count.unwritable, count.holes / 3) << tokenizer.name;
    // Most of the texts are made of what is hard.
    EXPECT_LT(count.lost, tokenizer.kind == "llama" ? count.holes / 10 : count.holes / 50) << tokenizer.name;
    ::testing::Test::RecordProperty(tokenizer.name, count.lost);
  }
}

TEST(HolesTest, ShippedTokenizersKeepTheTokensAround) { CheckPieces(testing::ShippedTokenizers()); }

TEST(HolesTest, ReleasedTokenizersKeepTheTokensAround) {
  const std::vector<NamedTokenizer> released = testing::ReleasedTokenizers();
  if (released.empty()) GTEST_SKIP() << "no test data: tokenizers";
  CheckPieces(released);
}

/// WordPiece does not keep spaces: a text is written with one before each word, and none before the inside of one.
std::string WrittenWords(const NamedTokenizer& tokenizer, const Tokens& tokens) {
  std::string text;
  for (Token token : tokens) {
    const std::string piece = tokenizer->Piece(token);
    text += piece.starts_with("##") && piece.size() > 2 ? piece.substr(2) : " " + piece;
  }
  return text;
}

void CheckWords(const NamedTokenizer& tokenizer) {
  int count = 0;
  for (Hole& hole : testing::RandomHoles(*tokenizer, testing::HoleTexts(kMixtures), kHolesPerText)) {
    // What an unknown word was is lost.
    if (std::count(hole.tokens.begin(), hole.tokens.end(), *tokenizer.keys.unknown) > 0) continue;
    ++count;
    hole.before = WrittenWords(tokenizer, hole.TokensBefore());
    hole.after = WrittenWords(tokenizer, hole.TokensAfter());
    EXPECT_TRUE(KeepsTokensBefore(*tokenizer, hole) && KeepsTokensAfter(*tokenizer, hole)) << hole.Written();
  }
  EXPECT_GT(count, 20) << tokenizer.name;
}

TEST(HolesTest, WordPieceGoesOnWithinAWord) {
  for (const NamedTokenizer& tokenizer : testing::ShippedTokenizers()) {
    if (tokenizer.kind == "bert") CheckWords(tokenizer);
  }
  for (const NamedTokenizer& tokenizer : testing::ReleasedTokenizers()) {
    if (tokenizer.kind != "bert") continue;
    CheckWords(tokenizer);
    const auto pieces = [&](const char* text, bool behind_hole) {
      std::string all;
      for (Token token : tokenizer->Encode(text, {.behind_hole = behind_hole})) all += tokenizer->Piece(token) + " ";
      return all;
    };
    EXPECT_EQ(pieces("ing home", true), "##ing home ");
    EXPECT_EQ(pieces(" ing home", true), "ing home ");
    EXPECT_EQ(pieces("ing home", false), "ing home ");
    EXPECT_EQ(pieces(", he", true), ", he ");
  }
}

TEST(HolesTest, ProteinsKeepTheirLetters) {
  std::mt19937_64 random(3);
  const std::string letters = "ACDEFGHIKLMNPQRSTVWY";
  for (const NamedTokenizer& tokenizer : testing::ShippedTokenizers()) {
    if (tokenizer.kind != "esm") continue;
    std::vector<std::string> sequences;
    for (int i = 0; i < 50; ++i) {
      std::string sequence;
      for (std::size_t left = random() % 40 + 1; left > 0; --left) sequence += letters[random() % letters.size()];
      sequences.push_back(sequence);
    }
    for (Hole& hole : testing::RandomHoles(*tokenizer, sequences, 10)) {
      ASSERT_TRUE(Write(*tokenizer, hole));
      EXPECT_TRUE(KeepsTokensBefore(*tokenizer, hole) && KeepsTokensAfter(*tokenizer, hole)) << hole.Written();
    }
  }
}

/// The README's example, and the rule for spaces in plain sight.
TEST(HolesTest, NoSpaceIsATokenBesideAHole) {
  const NamedTokenizer stories = std::move(testing::ShippedTokenizers().front());
  const auto pieces = [&](const char* text, const EncodeOptions& options) {
    std::vector<std::string> all;
    for (Token token : stories->Encode(text, options)) all.push_back(stories->Piece(token));
    return all;
  };
  using Strings = std::vector<std::string>;
  EXPECT_EQ(pieces("Tom found a ", {.before_hole = true}), (Strings{" Tom", " found", " a"}));
  EXPECT_EQ(pieces("Tom found a", {.before_hole = true}), (Strings{" Tom", " found", " a"}));
  EXPECT_EQ(pieces("Tom found a  ", {.before_hole = true}), (Strings{" Tom", " found", " a", " "}));
  EXPECT_EQ(pieces(". He", {.behind_hole = true}), (Strings{".", " He"}));
  EXPECT_EQ(pieces(" b", {.behind_hole = true}), (Strings{" b"}));
  EXPECT_EQ(pieces(" ", {.behind_hole = true, .before_hole = true}), Strings{});
}

}  // namespace
}  // namespace punt
