#include "constrain/counted_text.h"

#include <gtest/gtest.h>

#include "base/error_testing.h"
#include "constrain/regex.h"

namespace punt {
namespace {

TEST(CountedText, IsTheIntersectionWithARepetitionOfCharacters) {
  const PatternRef one = Written(CharacterSet().Negated(), Writing::kJsonString);
  const ByteAutomaton character = Compile(one, "it");
  for (const char* regex : {"^[a-z\"é]*$", "^(ab|é\\n)+$", "b", "^.{2}x|[€𝄞]+$"}) {
    const ByteAutomaton language = Compile(ParseRegex(regex, "it", Writing::kJsonString, Extent::kPart), "it");
    for (const auto& [least, most] : {std::pair(0, 3), {2, 2}, {1, -1}, {3, 5}, {4, -1}}) {
      const ByteAutomaton twin = Intersection(language, Compile(Repeat(one, least, most), "it"), "it");
      const ByteAutomaton counted =
          WithCharacters(language, character, least, most < 0 ? std::nullopt : std::optional(most), "it", {});
      EXPECT_EQ(counted.size(), twin.size()) << regex << " " << least;
      for (const char* text :
           {"", "b", "ab", "abab", "é\\n", "é\\nab", "\\\"b", "aax", "€𝄞", "€€€𝄞", "aaaaab", "ééé"}) {
        EXPECT_EQ(counted.Matches(text), twin.Matches(text)) << regex << " " << least << " " << text;
      }
    }
  }
}

TEST(CountedText, IsBounded) {
  const ByteAutomaton letter = Compile(ParseRegex("[a-z]", "it"), "it");
  const ByteAutomaton letters = Compile(ParseRegex("[a-z]{3,}", "it"), "it");
  EXPECT_EQ(ErrorOf([&] { WithCharacters(letters, letter, 0, 2, "it", {}); }), "it matches no text at all");
  EXPECT_NE(ErrorOf([&] { WithCharacters(letters, letter, 0, 5000, "it", {.states = 100}); }).find("100 states"),
            std::string::npos);
}

TEST(Difference, LeavesOutWhatTheOtherAccepts) {
  const ByteAutomaton a = Compile(ParseRegex("[ab]*", "it"), "it"), b = Compile(ParseRegex("a.*|bb", "it"), "it");
  const ByteAutomaton rest = Difference(a, b, "it");
  for (const char* text : {"", "b", "ba", "bba"}) EXPECT_TRUE(rest.Matches(text)) << text;
  for (const char* text : {"a", "ab", "bb", "c"}) EXPECT_FALSE(rest.Matches(text)) << text;
  EXPECT_EQ(ErrorOf([&] { Difference(a, a, "it"); }), "it matches no text at all");
}

}  // namespace
}  // namespace punt
