#include "constrain/language.h"

#include <gtest/gtest.h>

#include "base/error_testing.h"

namespace punt {
namespace {

TEST(Language, WhatIsAskedOfProteinsHoldsTogether) {
  const LanguageSpec spec{.regex = "M.{5}",
                          .motifs = {"N-{P}-[ST]", "W>"},
                          .allowed_residues = "2:AC",
                          .composition = {"no C", "exactly 1 W"}};
  const ByteAutomaton automaton = CompileLanguage(spec);
  EXPECT_EQ(spec.what(), "the constraint");
  EXPECT_TRUE(automaton.Matches("MANASW"));
  for (const char* wrong : {"MCNASW", "MANPSW", "MANASA", "WANASW", "MANWSW", "MANASWW"}) {
    EXPECT_FALSE(automaton.Matches(wrong)) << wrong;
  }
}

TEST(Language, ErrorsNameWhatContradictsWhat) {
  const auto error = [](const LanguageSpec& spec) { return ErrorOf([&] { CompileLanguage(spec); }); };
  EXPECT_EQ(error({.motifs = {"C-x-C"}, .composition = {"W>=1", "no C"}}),
            "the motif \"C-x-C\" with the composition \"W>=1\" with the composition \"no C\" matches no text at all");
  EXPECT_EQ(error({.motifs = {"N-B"}}), "the motif \"N-B\": character 3: 'B' is not one of the 20 amino acids");
  EXPECT_EQ(error({.regex = "a", .text_template = "{a:int}"}),
            "a regular expression, choices, a JSON schema and a template exclude each other");
  EXPECT_NE(error({.composition = std::vector<std::string>(65, "no C")}).find("64 are the limit"), std::string::npos);
  // Counts multiply.
  EXPECT_NE(error({.composition = {"C=200", "W=200"}}).find("automaton of more than 20000 states"), std::string::npos);
  EXPECT_EQ((LanguageSpec{.motifs = {std::string(100, 'C')}}).what(), "the motif \"" + std::string(60, 'C') + "\"...");
}

// Rather than refused.
TEST(Language, LongStringsOfLargeSchemasAreShorter) {
  std::string schema = R"({"type":"object","required":["0"],"properties":{)";
  for (int i = 0; i < 12; ++i) {
    schema += std::string(i > 0 ? "," : "") + "\"" + std::to_string(i) + R"(":{"type":"string","maxLength":2000})";
  }
  const ByteAutomaton automaton = CompileLanguage({.json_schema = schema + "}}"});
  EXPECT_TRUE(automaton.Matches(R"({"0":"aaaaaaaaaaaa"})"));
  EXPECT_FALSE(automaton.Matches("{\"0\":\"" + std::string(2000, 'a') + "\"}"));
}

TEST(Language, ATemplateIsOne) {
  const ByteAutomaton automaton = CompileLanguage({.text_template = "born {year:int 1900..1999}"});
  EXPECT_TRUE(automaton.Matches("born 1984"));
  EXPECT_FALSE(automaton.Matches("born 2084"));
}

}  // namespace
}  // namespace punt
