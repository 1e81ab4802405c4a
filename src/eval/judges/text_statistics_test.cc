#include "eval/judges/text_statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace punt {
namespace {

using Words = std::vector<std::string>;

TEST(TextStatistics, Words) {
  EXPECT_EQ(WordsOf("Once upon, a TIME! Don't\n\u00c9t\u00e9 7x"),
            (Words{"once", "upon", "a", "time", "don't", "\u00c9t\u00e9", "7x"}));
  EXPECT_TRUE(WordsOf(" .,\n").empty());
}

TEST(TextStatistics, DistinctCountsOverAllTexts) {
  const std::vector<Words> texts = {{"a", "b", "a", "b"}, {"a", "b", "c"}};
  EXPECT_DOUBLE_EQ(DistinctShare(texts, 1), 3.0 / 7);
  EXPECT_DOUBLE_EQ(DistinctShare(texts, 2), 3.0 / 5);  // ab ba ab | ab bc
  EXPECT_DOUBLE_EQ(DistinctShare(texts, 3), 3.0 / 3);  // aba bab | abc
  EXPECT_DOUBLE_EQ(DistinctShare(texts, 5), 0);        // no n-gram crosses from one text to the next
}

TEST(TextStatistics, EntropyOfWords) {
  EXPECT_DOUBLE_EQ(WordEntropy(std::vector<Words>{{"a", "b"}, {"c", "d"}}), std::log(4.0));
  EXPECT_DOUBLE_EQ(WordEntropy(std::vector<Words>{{"a", "a"}, {"b", "b"}}), std::log(2.0));
  EXPECT_EQ(WordEntropy(std::vector<Words>{{"a", "a"}, {}}), 0);
  EXPECT_EQ(WordEntropy({}), 0);
}

TEST(TextStatistics, RepetitionCountsWhatOccurredBefore) {
  const Repetition repetition = CountRepeated(Words{"a", "b", "a", "b", "a"}, 2);  // ab ba ab ba
  EXPECT_EQ(repetition.repeated, 2);
  EXPECT_EQ(repetition.all, 4);
  EXPECT_EQ(CountRepeated(Words{"a"}, 2).all, 0);
  EXPECT_EQ(CountRepeated(Words(10, "x"), 4).repeated, 6);
}

}  // namespace
}  // namespace punt
