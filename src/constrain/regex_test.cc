#include "constrain/regex.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "base/error_testing.h"
#include "constrain/byte_automaton.h"

namespace punt {
namespace {

ByteAutomaton Of(std::string_view regex, Writing writing = Writing::kPlain, Extent extent = Extent::kWhole) {
  return Compile(ParseRegex(regex, "it", writing, extent), "it");
}

bool Matches(std::string_view regex, std::string_view text) { return Of(regex).Matches(text); }

TEST(Regex, AgreesWithTheStandardLibrary) {
  const char* const regexes[] = {"a",         "a*b",        "(a|b)+c?",     "[abc]{2,3}", "[^ab]c",      "a.c",
                                 "\\d+a?",    "\\w\\W",     "a{2}",         "a{2,}",      "(?:ab|c)*?d", "^ab$",
                                 "^(a|b)*c$", "[a-c-]+",    "\\x61\\u0062", "[\\]a]\\*",  "a||b",        "(a(b(c)?)?)?",
                                 "[\\d-]+",   "\\s?a\\S+?", "[\\w.]+1",     "()a()",      "a+?b*?c??",   "\\.\\+"};
  const std::string letters = "abc1 .-*]d+\n";
  for (const char* regex : regexes) {
    const ByteAutomaton own = Of(regex);
    const std::regex standard(regex, std::regex::ECMAScript);
    for (std::size_t number = 0; number < 12 * 12 * 12 * 12; number += number < 2000 ? 1 : 7) {
      std::string text;
      for (std::size_t rest = number; rest > 0; rest /= 12) text += letters[rest % 12];
      ASSERT_EQ(own.Matches(text), std::regex_match(text, standard)) << regex << " and '" << text << "'";
    }
  }
}

TEST(Regex, CharactersAreNotBytes) {
  EXPECT_TRUE(Matches("...", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"));
  EXPECT_FALSE(Matches("..", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"));
  EXPECT_FALSE(Matches(".", "\xff"));
  EXPECT_FALSE(Matches(".", "\xed\xa0\x80")) << "a surrogate";
  EXPECT_FALSE(Matches(".", "\xc0\xaf")) << "an overlong form";
  EXPECT_TRUE(Matches("[\xc3\xa0-\xc3\xbf]+", "\xc3\xa9\xc3\xa0"));
  EXPECT_TRUE(Matches("\\u{1f600}|\\ud83d\\ude01", "\xf0\x9f\x98\x81"));
  EXPECT_TRUE(Matches("(?P<year>\\d{4})(?<rest>x)", "2026x"));
}

TEST(Regex, PartsOfATextUnlessAnchored) {
  const auto matches = [](const char* regex, const char* text) {
    return Of(regex, Writing::kPlain, Extent::kPart).Matches(text);
  };
  EXPECT_TRUE(matches("b", "abc") && matches("^a", "abc") && matches("c$", "abc") && matches("^a|^b", "bc"));
  EXPECT_FALSE(matches("^b", "abc") || matches("b$", "abc") || matches("^abc$", "abcd"));
  EXPECT_TRUE(matches("", "") && matches("", "x\ny"));
}

TEST(Regex, WrittenWithinJsonStrings) {
  const ByteAutomaton any = Of("[^a]*", Writing::kJsonString);
  EXPECT_TRUE(any.Matches(R"(b\"\\\n\t\u0001/)"));
  EXPECT_FALSE(any.Matches("\"") || any.Matches("\n") || any.Matches("\\") || any.Matches("\\a") || any.Matches("a"));
  EXPECT_FALSE(any.Matches("\\u0041")) << "an escape that nothing asks for";
  EXPECT_TRUE(Of("say \"\\s\"", Writing::kJsonString).Matches(R"(say \" \")"));
}

TEST(Regex, RefusalsNameThePlace) {
  const auto refusal = [](std::string_view regex) { return ErrorOf([&] { ParseRegex(regex, "the expression"); }); };
  EXPECT_EQ(refusal("a("), "the expression \"a(\": character 3: ')' is missing");
  EXPECT_EQ(refusal("a)b"), "the expression \"a)b\": character 2: ')' closes nothing");
  EXPECT_EQ(refusal("*a"), "the expression \"*a\": character 1: nothing comes before the repetition");
  EXPECT_EQ(refusal("[a"), "the expression \"[a\": character 3: ']' is missing");
  EXPECT_EQ(refusal("[b-a]"), "the expression \"[b-a]\": character 5: a range goes backwards");
  EXPECT_EQ(refusal("[\\d-z]"),
            "the expression \"[\\\\d-z]\": character 6: a range goes from one character to another");
  EXPECT_EQ(refusal("a{3,2}"), "the expression \"a{3,2}\": character 7: {3,2} counts backwards");
  EXPECT_EQ(refusal("a{20000}"), "the expression \"a{20000}\": character 7: repetitions count to 10000 at most");
  EXPECT_EQ(refusal("a**"), "the expression \"a**\": character 4: a repetition of a repetition needs a group");
  EXPECT_NE(refusal("(a)\\1").find("character 5: references to groups are not supported"), std::string::npos);
  EXPECT_NE(refusal("(?=a)b").find("look-around"), std::string::npos);
  EXPECT_NE(refusal("(?<!a)b").find("look-around"), std::string::npos);
  EXPECT_NE(refusal("(?i)b").find("flags"), std::string::npos);
  EXPECT_NE(refusal("a\\b").find("this escape is not supported"), std::string::npos);
  EXPECT_NE(refusal("\\p{L}").find("this escape is not supported"), std::string::npos);
  EXPECT_NE(refusal("a^b").find("'^' stands only at the beginning"), std::string::npos);
  EXPECT_NE(refusal("a$b").find("'$' stands only at the end"), std::string::npos);
  EXPECT_NE(refusal("\\").find("a backslash ends"), std::string::npos);
  EXPECT_NE(refusal("\\ud800").find("not a character"), std::string::npos);
  EXPECT_NE(refusal("[[:alpha:]]").find("[:alpha:]"), std::string::npos);
  EXPECT_NE(refusal("a\xff").find("not valid UTF-8"), std::string::npos);
  EXPECT_NE(refusal(std::string(200, '(')).find("nested more than 100 deep"), std::string::npos);
  EXPECT_NE(refusal(std::string(30000, 'a')).find("has 30000 bytes; 20000 are the limit"), std::string::npos);
}

}  // namespace
}  // namespace punt
