#include "constrain/protein_language.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <regex>

#include "base/error_testing.h"
#include "constrain/byte_automaton.h"

namespace punt {
namespace {

/// Calls `f` with every sequence of up to four of these residues.
void ForSequences(const std::function<void(const std::string&)>& f) {
  constexpr std::string_view kLetters = "CNPSW";
  std::vector<std::string> all = {""};
  for (std::size_t i = 0; i < all.size(); ++i) {
    f(all[i]);
    for (char letter : kLetters) {
      if (all[i].size() < 4) all.push_back(all[i] + letter);
    }
  }
}

std::string kAmino = "[ACDEFGHIKLMNPQRSTVWY]";

// Against the expressions that PROSITE's manual translates them to.
TEST(ProteinLanguage, MotifsAreWhereTheyMayBe) {
  const std::pair<const char*, const char*> kMotifs[] = {{"N-{P}-[ST]-{P}", ".*N[^P][ST][^P].*"},
                                                         {"N{P}[ST]", ".*N[^P][ST].*"},
                                                         {"<C-x-W", "C.W.*"},
                                                         {"C-x(0,2)-C>.", ".*C.{0,2}C"},
                                                         {"<N(2)>", "NN"},
                                                         {"S-W@2", ".SW.*"},
                                                         {"c-n@1", "CN.*"},
                                                         {"x(3)", ".*.{3}.*"}};
  for (const auto& [motif, expression] : kMotifs) {
    const ByteAutomaton automaton = Compile(ParseMotif(motif, "it"), "it");
    const std::regex twin(expression);
    int found = 0;
    ForSequences([&](const std::string& sequence) {
      EXPECT_EQ(automaton.Matches(sequence), std::regex_match(sequence, twin)) << motif << " " << sequence;
      found += automaton.Matches(sequence);
    });
    EXPECT_GT(found, 0) << motif;
  }
}

TEST(ProteinLanguage, CountsAreCounted) {
  struct Case {
    const char* text;
    const char* letters;
    int least, most;
  };
  for (const Case& row : {Case{"no C", "C", 0, 0}, Case{"no CW", "CW", 0, 0}, Case{"exactly 2 W", "W", 2, 2},
                          Case{"at least 2 NP", "NP", 2, 99}, Case{"at most 1 S", "S", 0, 1}, Case{"C=1", "C", 1, 1},
                          Case{"C<=2", "C", 0, 2}, Case{"cw >= 3", "CW", 3, 99}}) {
    const ByteAutomaton automaton = Compile(ParseComposition(row.text, "it"), "it");
    ForSequences([&](const std::string& sequence) {
      const auto count = std::count_if(sequence.begin(), sequence.end(), [&](char c) {
        return std::string_view(row.letters).find(c) != std::string_view::npos;
      });
      EXPECT_EQ(automaton.Matches(sequence), count >= row.least && count <= row.most) << row.text << " " << sequence;
    });
    EXPECT_FALSE(automaton.Matches("CB"));
  }
}

TEST(ProteinLanguage, PositionsTakeTheirResidues) {
  const std::pair<const char*, const char*> kLists[] = {{"1:C, 3:NP", "C.[NP].*"},
                                                        {"2-3:!CN", ".[^CN]{2}.*"},
                                                        {"position,residues\n1,C\n3,NP\n", "C.[NP].*"},
                                                        {"# of a scan\n1 [CW]\n2\t{C}\n", "[CW][^C].*"},
                                                        {"1:CNP\n1:PW", "P.*"},
                                                        {">a\nC-N\n>b\nCX\nP", "C.[NP].*"}};
  for (const auto& [list, expression] : kLists) {
    const ByteAutomaton automaton = Compile(ParseAllowedResidues(list, "it"), "it");
    const std::regex twin(expression);
    ForSequences([&](const std::string& sequence) {
      EXPECT_EQ(automaton.Matches(sequence), std::regex_match(sequence, twin)) << list << " " << sequence;
    });
  }
}

TEST(ProteinLanguage, ErrorsNameWhatIsWrong) {
  const auto motif = [](std::string_view text) { return ErrorOf([&] { ParseMotif(text, "it"); }); };
  EXPECT_EQ(motif("N-B"), "it: character 3: 'B' is not one of the 20 amino acids");
  EXPECT_EQ(motif("[NB]"), "it: character 3: 'B' is not one of the 20 amino acids");
  EXPECT_EQ(motif(""), "it: character 1: it ends here");
  EXPECT_EQ(motif("N-[S"), "it: character 5: it ends here");
  EXPECT_EQ(motif("x(3,1)"), "it: character 7: (3,1) counts backwards");
  EXPECT_EQ(motif("C@0"), "it: character 4: positions count from 1");
  EXPECT_NE(motif("<C@2").find("contradict each other"), std::string::npos);
  EXPECT_NE(motif("[G>]").find("an end of the sequence"), std::string::npos);
  EXPECT_EQ(motif("C;"), "it: character 2: ';' is not expected");
  EXPECT_EQ(motif("x(99999)"), "it: character 8: 10000 is the largest number");
  EXPECT_EQ(motif("{ACDEFGHIKLMNPQRSTVWY}"), "it: character 23: no residue is left");
  const auto count = [](std::string_view text) { return ErrorOf([&] { ParseComposition(text, "it"); }); };
  EXPECT_EQ(count("no B"), "it: character 4: 'B' is not one of the 20 amino acids");
  EXPECT_NE(count("C 2").find("a count is written"), std::string::npos);
  EXPECT_EQ(count("C>=x"), "it: character 4: a whole number is expected");
  EXPECT_EQ(count("exactly 2 C 3"), "it: character 12: ' ' is not expected");
  const auto list = [](std::string_view text) { return ErrorOf([&] { ParseAllowedResidues(text, "it"); }); };
  EXPECT_NE(list("").find("no position"), std::string::npos);
  EXPECT_NE(list("0:C").find("positions count from 1"), std::string::npos);
  EXPECT_NE(list("5-2:C").find("goes backwards"), std::string::npos);
  EXPECT_NE(list("1:C\n1:W").find("position 1 is listed twice"), std::string::npos);
  EXPECT_NE(list("1:Z").find("'Z' is not one"), std::string::npos);
  EXPECT_NE(list(">a\nCC\n>b\nC").find("an alignment is needed"), std::string::npos);
  EXPECT_NE(list(">a\nC1").find("position 2"), std::string::npos);
  EXPECT_NE(list(">a").find("is empty"), std::string::npos);
}

}  // namespace
}  // namespace punt
