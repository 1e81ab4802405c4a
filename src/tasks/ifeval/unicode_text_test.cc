#include "tasks/ifeval/unicode_text.h"

#include <gtest/gtest.h>

namespace punt {
namespace {

TEST(UnicodeText, SpacesAreThoseOfPython) {
  std::size_t count = 0;
  for (char32_t code = 0; code < 0x110000; ++code) count += IsSpace(code) ? 1 : 0;
  EXPECT_EQ(count, 29u);  // the number of characters for which str.isspace is true
  EXPECT_TRUE(IsSpace(0x1c) && IsSpace(0x85) && IsSpace(0xa0) && IsSpace(0x2028) && IsSpace(0x3000));
  EXPECT_FALSE(IsSpace(0x200b) || IsSpace(0xfeff) || IsSpace('_'));
}

TEST(UnicodeText, WordsAreRunsOfLettersAndNumbers) {
  EXPECT_EQ(CountWordRuns(U"It's 3.5 snake_case \u00e9t\u00e9 \u00bd"), 7u);  // It s 3 5 snake_case été ½
  EXPECT_EQ(CountWordRuns(U"\u0939\u093f\u0928"), 2u);                        // a vowel sign is no word character
  EXPECT_EQ(CountWordRuns(U" ,;! \n"), 0u);
  EXPECT_EQ(CountWordRuns(U""), 0u);
}

TEST(UnicodeText, CaseOfATextIsThatOfItsCasedCharacters) {
  EXPECT_TRUE(IsUpperText(U"ABC, 12!"));
  EXPECT_TRUE(IsUpperText(U"\u00c9T\u00c9"));
  EXPECT_TRUE(IsUpperText(U"\u2163"));  // a Roman numeral, no letter
  EXPECT_FALSE(IsUpperText(U"ABc"));
  EXPECT_FALSE(IsUpperText(U"12!"));
  EXPECT_FALSE(IsUpperText(U"A\u01c5"));  // title case
  EXPECT_FALSE(IsUpperText(U"N\u00ba"));  // the ordinal sign is in lower case
  EXPECT_TRUE(IsLowerText(U"abc, 12!"));
  EXPECT_FALSE(IsLowerText(U"abC"));
  EXPECT_FALSE(IsLowerText(U""));
}

TEST(UnicodeText, UpperAndLowerExcludeEachOther) {
  for (char32_t code = 0; code < 0x20000; ++code) {
    ASSERT_FALSE(IsUpper(code) && IsLower(code)) << static_cast<unsigned>(code);
  }
}

TEST(UnicodeText, LowerCase) {
  EXPECT_EQ(Lower(U"\u00c4B \u0130x"), U"\u00e4b i\u0307x");
  EXPECT_EQ(FoldCase(U'K'), FoldCase(0x212a));  // Kelvin
  EXPECT_EQ(FoldCase(0x17f), FoldCase('S'));
}

TEST(UnicodeText, SplitsAndStrips) {
  using Parts = std::vector<std::u32string_view>;
  EXPECT_EQ(SplitWords(U"  a\tbc\u00a0d\n"), (Parts{U"a", U"bc", U"d"}));
  EXPECT_EQ(SplitAt(U"a**b****", U"**"), (Parts{U"a", U"b", U"", U""}));
  EXPECT_EQ(SplitAt(U"***", U"**"), (Parts{U"", U"*"}));
  EXPECT_EQ(Strip(U"\n a b \u2003"), U"a b");
  EXPECT_TRUE(IsBlank(U"\t \n"));
}

TEST(UnicodeText, FindsIgnoringCase) {
  EXPECT_EQ(FindIgnoringCase(U"Not HERE, here", U"here"), 4u);
  EXPECT_EQ(FindIgnoringCase(U"Not HERE, here", U"here", 5), 10u);
  EXPECT_EQ(FindIgnoringCase(U"Not", U"note"), std::u32string_view::npos);
  EXPECT_TRUE(IsWordBoundary(U"ab c", 2));
  EXPECT_FALSE(IsWordBoundary(U"ab c", 1));
  EXPECT_TRUE(IsWordBoundary(U"ab", 0) && IsWordBoundary(U"ab", 2));
}

}  // namespace
}  // namespace punt
