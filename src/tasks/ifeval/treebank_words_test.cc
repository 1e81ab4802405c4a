#include "tasks/ifeval/treebank_words.h"

#include <gtest/gtest.h>

#include "tasks/ifeval/ifeval_testing.h"
#include "tasks/ifeval/punkt.h"

namespace punt {
namespace {

std::string Joined(const std::vector<std::u32string>& words) {
  std::string joined;
  for (const std::u32string& word : words) {
    if (!joined.empty()) joined += '|';
    joined += testing::Utf8(word);
  }
  return joined;
}
std::string Words(std::u32string_view sentence) { return Joined(TreebankWords(sentence)); }

TEST(TreebankWords, MarksStandAlone) {
  EXPECT_EQ(Words(U"Yes, it costs $3.50 (or 3,5): fine!"), "Yes|,|it|costs|$|3.50|(|or|3,5|)|:|fine|!");
  EXPECT_EQ(Words(U"Well... no--never; *bold* a/b co-op"), "Well|...|no|--|never|;|*|bold|*|a/b|co-op");
  EXPECT_EQ(Words(U"first,\nthen:"), "first|,|then|:");
}

TEST(TreebankWords, OnlyTheLastPeriodIsCutOff) {
  EXPECT_EQ(Words(U"Ask Dr. Oslo in the U.S. today."), "Ask|Dr.|Oslo|in|the|U.S.|today|.");
  EXPECT_EQ(Words(U"(So it is.)"), "(|So|it|is|.|)");
}

TEST(TreebankWords, CliticsAndContractions) {
  EXPECT_EQ(Words(U"I can't, he'll, it's, THEY'RE, O'Hara's"), "I|ca|n't|,|he|'ll|,|it|'s|,|THEY|'RE|,|O'Hara|'s");
  EXPECT_EQ(Words(U"CANNOT gonna wanna go"), "CAN|NOT|gon|na|wan|na|go");
  EXPECT_EQ(Words(U"so 'tis more'n that"), "so|'t|is|more|'n|that");
}

TEST(TreebankWords, Quotes) {
  EXPECT_EQ(Words(U"\"Go\" (\"now\")"), "``|Go|''|(|``|now|''|)");
  EXPECT_EQ(Words(U"\u201cGo\u201d \u00abnow\u00bb"), "\u201c|Go|\u201d|\u00ab|now|\u00bb");
}

TEST(TreebankWords, OfAllSentences) {
  const testing::DataFolder folder("treebank");
  testing::WritePunkt(folder);
  const Punkt punkt(PunktParameters::Open(folder.Path("punkt")));
  EXPECT_EQ(Joined(TreebankWords(U"It rains. Ask Dr. Oslo. No!", punkt)), "It|rains|.|Ask|Dr.|Oslo|.|No|!");
  EXPECT_EQ(Joined(TreebankWords(U" \n", punkt)), "");
}

}  // namespace
}  // namespace punt
