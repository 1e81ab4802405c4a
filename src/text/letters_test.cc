#include "text/letters.h"

#include <gtest/gtest.h>

#include <numeric>

#include "punt/error.h"

namespace punt {
namespace {

TEST(LettersTest, Pieces) {
  const LettersTokenizer letters(101, 100);
  EXPECT_EQ(letters.Piece(0), "a");
  EXPECT_EQ(letters.Piece(25), "z");
  EXPECT_EQ(letters.Piece(26), "A");
  EXPECT_EQ(letters.Piece(51), "Z");
  EXPECT_EQ(letters.Piece(52), "<52>");
  EXPECT_EQ(letters.Piece(99), "<99>");
  EXPECT_EQ(letters.Piece(100), "_");
  EXPECT_THROW(letters.Piece(101), Error);
  EXPECT_THROW(letters.Piece(-1), Error);
}

TEST(LettersTest, TheMaskIsAnUnderscoreWhateverItsNumber) {
  const LettersTokenizer letters(4, 1);
  EXPECT_EQ(letters.Decode(std::vector<Token>{0, 1, 2, 3}), "a_cd");
  EXPECT_EQ(letters.Encode("a_cd", {.specials = true}), (std::vector<Token>{0, 1, 2, 3}));
  EXPECT_THROW(letters.Encode("b"), Error);  // the letter of the mask's number means nothing
}

TEST(LettersTest, EveryVocabularyComesBack) {
  for (int vocab : {1, 2, 9, 27, 53, 54, 200}) {
    for (Token mask : {0, vocab / 2, vocab - 1}) {
      const LettersTokenizer letters(vocab, mask);
      std::vector<Token> all(static_cast<std::size_t>(vocab));
      std::iota(all.begin(), all.end(), 0);
      EXPECT_EQ(letters.Encode(letters.Decode(all), {.specials = true}), all);
    }
  }
}

TEST(LettersTest, Empty) {
  const LettersTokenizer letters(3, 2);
  EXPECT_TRUE(letters.Encode("").empty());
  EXPECT_EQ(letters.Decode({}), "");
}

std::string Refusal(const LettersTokenizer& letters, std::string_view text) {
  try {
    letters.Encode(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  return "accepted";
}

TEST(LettersTest, ErrorsNameTheOffender) {
  const LettersTokenizer letters(61, 60);
  const std::pair<const char*, const char*> cases[] = {{"ab c", "' '"},
                                                       {"a\n", "U+000A"},
                                                       {"ab\xC3\xA9", "'\xC3\xA9'"},
                                                       {"a<60>", "'<60>'"},
                                                       {"<61>", "'<61>'"},
                                                       {"<-1>", "'<-1>'"},
                                                       {"<3>", "written 'd'"},
                                                       {"<052>", "written '<52>'"},
                                                       {"<52", "'<'"},
                                                       {"<>", "'<'"},
                                                       {"a<b>", "'<'"},
                                                       {"<99999999999999999999>", "'<'"},
                                                       {"x\xff", "0xff"},
                                                       {"x\xC3", "0xc3"},
                                                       {"\x80", "0x80"},
                                                       {"\xC0\x80", "0xc0"},
                                                       {"\xE0\x80\x80", "0xe0"},
                                                       {"\xED\xA0\x80", "0xed"},
                                                       {"\xF5\x80\x80", "0xf5"},
                                                       {"\xF4\x90\x80\x80", "0xf4"},
                                                       {"\xE2\x82\xAC", "'\xE2\x82\xAC'"},
                                                       {"\xF0\x9F\x8E\x88", "'\xF0\x9F\x8E\x88'"}};
  for (const auto& [text, words] : cases) {
    const std::string refusal = Refusal(letters, text);
    EXPECT_NE(refusal.find(words), std::string::npos) << refusal << ", wanted " << words;
  }
  EXPECT_EQ(Refusal(LettersTokenizer(4, 3), "abcd"), "'d' lies outside the vocabulary of 3 tokens");
  EXPECT_NE(Refusal(LettersTokenizer(4, 3), std::string_view("\0", 1)).find("U+0000"), std::string::npos);
}

}  // namespace
}  // namespace punt
