#include "app/glyphs.h"

#include <gtest/gtest.h>

#include "punt/random.h"
#include "text/utf8.h"

namespace punt {
namespace {

TEST(Glyphs, HaveTheirWidths) {
  EXPECT_EQ(TextWidth(""), 0);
  EXPECT_EQ(TextWidth("abc"), 3);
  EXPECT_EQ(TextWidth("\u00e4"), 1);
  EXPECT_EQ(TextWidth("e\u0301x"), 2);
  EXPECT_EQ(TextWidth("\u6f22\u5b57"), 4);
  EXPECT_EQ(TextWidth("\U0001f600"), 2);
  EXPECT_EQ(TextWidth("\u23f0\ufe0f"), 2);
  EXPECT_EQ(TextWidth("\u0915\u093f"), 2);  // a vowel sign that takes room
  EXPECT_EQ(TextWidth("\u0915\u0941"), 1);  // one below its letter
  EXPECT_EQ(TextWidth("\u0e01\u0e34"), 1);
  EXPECT_EQ(TextWidth("\u0301"), 1);  // an accent without a letter sits on a space
}

TEST(Glyphs, NeverLetControlsThrough) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  all += "\u0085\u009b31m\u2028\u202e\u2066";
  for (const Glyph& glyph : Glyphs(all)) {
    ASSERT_EQ(InvalidUtf8(glyph.bytes), std::string::npos);
    for (char c : glyph.bytes) EXPECT_FALSE((c >= 0 && c < 0x20) || c == 0x7f);
    EXPECT_EQ(glyph.bytes.find("\u009b"), std::string::npos);
    EXPECT_EQ(glyph.bytes.find("\u202e"), std::string::npos);
  }
}

TEST(Glyphs, BreakLinesAtLineFeedsOnly) {
  const std::vector<Glyph> glyphs = Glyphs("a\n\r");
  ASSERT_EQ(glyphs.size(), 3u);
  EXPECT_FALSE(glyphs[0].breaks_line);
  EXPECT_TRUE(glyphs[1].breaks_line);
  EXPECT_FALSE(glyphs[2].breaks_line);
}

TEST(FitToWidth, CutsAtCharactersAndMarksTheCut) {
  EXPECT_EQ(FitToWidth("abc", 3), "abc");
  EXPECT_EQ(FitToWidth("abcd", 3), "ab~");
  EXPECT_EQ(FitToWidth("\u6f22\u5b57", 3), "\u6f22~");
  EXPECT_EQ(FitToWidth("\u6f22\u5b57", 2), "~");
  EXPECT_EQ(FitToWidth("abc", 0), "");
  EXPECT_EQ(FitToWidth("abc", 1), "~");
  RandomStream random(1);
  for (int trial = 0; trial < 500; ++trial) {
    std::string text;
    for (std::uint64_t i = random.Below(30); i > 0; --i) text += static_cast<char>(random.Below(256));
    const int columns = static_cast<int>(random.Below(20));
    EXPECT_LE(TextWidth(FitToWidth(text, columns)), columns);
  }
}

}  // namespace
}  // namespace punt
