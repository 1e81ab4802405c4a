#include "constrain/text_template.h"

#include <gtest/gtest.h>

#include "base/error_testing.h"
#include "constrain/byte_automaton.h"

namespace punt {
namespace {

bool Fits(std::string_view text_template, std::string_view text) {
  return Compile(ParseTemplate(text_template, "it", 2), "it").Matches(text);
}

TEST(TextTemplate, FixedPartsAndHoles) {
  constexpr std::string_view kBorn = "Name: {name:[A-Z][a-z]+}, born {year:int 1900..2030}";
  EXPECT_TRUE(Fits(kBorn, "Name: Ada, born 1915"));
  for (const char* wrong :
       {"Name: ada, born 1915", "Name: Ada, born 1815", "Name: Ada born 1915", "Name: Ada, born 1915 "}) {
    EXPECT_FALSE(Fits(kBorn, wrong)) << wrong;
  }
  EXPECT_TRUE(Fits("{{{a:[0-9]{2,3}}}} .*", "{123} .*")) << "braces of a repetition belong to the hole";
  EXPECT_FALSE(Fits("{{{a:[0-9]{2,3}}}} .*", "{1} .*"));
  EXPECT_TRUE(Fits("{:[}]}{:\\}|x}", "}x")) << "those of sets and escapes do not count";
  EXPECT_TRUE(Fits("ä{b:ü}", "äü"));
  EXPECT_TRUE(Fits("{a:(int)}", "int")) << "an expression that would be a type";
}

TEST(TextTemplate, EveryTypeTakesItsTextsOnly) {
  struct Case {
    const char* type;
    std::vector<const char*> right, wrong;
  };
  const Case kCases[] = {{"int", {"0", "-7", "123"}, {"", "01", "1.5", "+1"}},
                         {"int 3..12", {"3", "12"}, {"2", "13", "03"}},
                         {"int ..0", {"0", "-5"}, {"1"}},
                         {"int 5..", {"5", "1000"}, {"4"}},
                         {"number", {"1.25", "-3e7"}, {"1.", ".5"}},
                         {"number 0..1", {"0", "0.5", "1"}, {"1.5", "-0.5"}},
                         {"bool", {"true", "false"}, {"True"}},
                         {"word", {"it's", "Müller", "x_1-2"}, {"", "a b", "a.", "a,b"}},
                         {"line", {"a b"}, {"", "a\nb"}},
                         {"text", {"a\nb"}, {""}},
                         {"date", {"2031-12-31"}, {"2031-13-01", "2031-1-1"}},
                         {"time", {"23:59"}, {"24:00"}},
                         {"string", {"\"a\\\"b\""}, {"a", "\"\n\""}},
                         {"json", {"[1, {\"a\":null}]"}, {"[1,]"}}};
  std::size_t types = 0;
  for (const Case& row : kCases) {
    const std::string hole = std::string("<{a:") + row.type + "}>";
    for (const char* text : row.right)
      EXPECT_TRUE(Fits(hole, std::string("<") + text + ">")) << row.type << " " << text;
    for (const char* text : row.wrong)
      EXPECT_FALSE(Fits(hole, std::string("<") + text + ">")) << row.type << " " << text;
    types += std::string_view(row.type).find(' ') == std::string_view::npos;
  }
  EXPECT_EQ(types, HoleTypes().size()) << "a type without a case";
}

TEST(TextTemplate, ErrorsNameTheHoleAndThePlace) {
  const auto error = [](std::string_view text) { return ErrorOf([&] { ParseTemplate(text, "it", 2); }); };
  EXPECT_EQ(error("no hole"), "it has no hole; one is written {name:type}");
  EXPECT_EQ(error("ä {a:int"), "it: character 3: the hole is not closed; write {{ for the character");
  EXPECT_EQ(error("a}"), "it: character 2: '}' closes no hole; write }} for the character");
  EXPECT_NE(error("{year}").find("a hole is written {name:type}"), std::string::npos);
  EXPECT_NE(error("{a:int}{a:int}").find("there are two holes named a"), std::string::npos);
  EXPECT_EQ(error("{a:}"), "it: character 1: hole \"a\" has no type");
  EXPECT_NE(error("{a:x(}").find("it: hole \"a\" \"x(\": character 3: ')' is missing"), std::string::npos);
  EXPECT_NE(error("{:(?=a)}").find("it: hole 1"), std::string::npos);
  EXPECT_NE(error("{a:int 5}").find("bounds are written 1..12"), std::string::npos);
  EXPECT_NE(error("{a:int x..}").find("a bound is a number"), std::string::npos);
  EXPECT_EQ(error("{a:int 5..2}"), "it: hole \"a\": no number is within 5..2");
  EXPECT_EQ(error("\xff{a:int}"), "it is not valid UTF-8");
}

}  // namespace
}  // namespace punt
