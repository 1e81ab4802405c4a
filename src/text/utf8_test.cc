#include "text/utf8.h"

#include <gtest/gtest.h>

namespace punt {
namespace {

TEST(Utf8, OverlongFormsSurrogatesAndWhatIsCutOffAreInvalid) {
  for (const char* good : {"", "a", "\u00e4", "\u6f22", "\U0010ffff"}) {
    EXPECT_EQ(InvalidUtf8(good), std::string_view::npos) << good;
  }
  for (const char* bad : {"\xff", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe6\xbc",
                          "\xf8\x88\x80\x80"}) {
    EXPECT_EQ(InvalidUtf8(bad), 0u);
  }
  EXPECT_EQ(InvalidUtf8("a\x80"), 1u);
}

TEST(Utf8, TextIsCutBetweenCharacters) {
  EXPECT_EQ(WholeCharacters("abc", 5), 3u);
  EXPECT_EQ(WholeCharacters("abc", 2), 2u);
  EXPECT_EQ(WholeCharacters("a\u6f22b", 3), 1u);
  EXPECT_EQ(WholeCharacters("a\u6f22b", 4), 4u);
  EXPECT_EQ(WholeCharacters("\u6f22", 1), 0u);
}

TEST(Utf8, CharactersTakeTheColumnsOfTerminals) {
  for (char32_t narrow : {U'a', U'\u00e9', U'\u0627'}) EXPECT_EQ(TerminalColumns(narrow), 1);
  for (char32_t wide : {U'\u6f22', U'\uac00', U'\uff21', U'\u23f0', U'\U0001f600', U'\U00020000'}) {
    EXPECT_EQ(TerminalColumns(wide), 2) << std::uint32_t{wide};
  }
  for (char32_t mark : {U'\u0301', U'\u0941', U'\u200d', U'\ufe0f', U'\u3099'}) {
    EXPECT_EQ(TerminalColumns(mark), 0) << std::uint32_t{mark};
  }
  EXPECT_EQ(TerminalColumns(U'\u093f'), 1) << "a mark that takes room";
}

}  // namespace
}  // namespace punt
