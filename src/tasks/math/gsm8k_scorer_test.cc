#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "eval/task.h"
#include "punt/error.h"
#include "tasks/math/gsm8k_answer.h"
#include "tasks/scorer_rows.h"

namespace punt {
namespace {

bool All(std::string_view text, std::string_view allowed) {
  return text.find_first_not_of(allowed) == std::string_view::npos;
}

/// Does the whole text match the flexible expression's first or second alternative?
bool MatchesWhole(std::string_view text, bool first) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return first ? text.size() >= 2 && All(text, "$0123456789.,") : !text.empty() && All(text, "0123456789");
}

/// The last match by trying, from left to right, every length at every start: the first alternative before the second.
std::string NaiveFlexible(std::string_view text) {
  std::string last = kNoAnswer;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t taken = 0;
    for (bool first : {true, false}) {
      for (std::size_t length = text.size() - i; length > 0 && taken == 0; --length) {
        if (MatchesWhole(text.substr(i, length), first)) taken = length;
      }
    }
    if (taken > 0) last = std::string(text.substr(i, taken));
    i += taken > 0 ? taken : 1;
  }
  return last;
}

TEST(Gsm8k, FlexibleExtractOfExamples) {
  EXPECT_EQ(FlexibleExtract("She pays $1,234.50 in all"), "$1,234.50");
  EXPECT_EQ(FlexibleExtract("It is 5, not -7"), "-7");
  EXPECT_EQ(FlexibleExtract("the answer is 18."), "18.");
  EXPECT_EQ(FlexibleExtract("12 or so..."), "...");
  EXPECT_EQ(FlexibleExtract("-$10"), "-$10");
  EXPECT_EQ(FlexibleExtract("10-5"), "-5");
  EXPECT_EQ(FlexibleExtract("a $ and a ."), kNoAnswer);
  EXPECT_EQ(FlexibleExtract(""), kNoAnswer);
}

TEST(Gsm8k, FlexibleExtractEqualsItsNaiveTwinOnAllShortTexts) {
  const std::string alphabet = "-$1.a ";
  for (std::size_t length = 0; length <= 6; ++length) {
    std::size_t count = 1;
    for (std::size_t i = 0; i < length; ++i) count *= alphabet.size();
    for (std::size_t code = 0; code < count; ++code) {
      std::string text;
      for (std::size_t i = 0, rest = code; i < length; ++i, rest /= alphabet.size())
        text += alphabet[rest % alphabet.size()];
      ASSERT_EQ(FlexibleExtract(text), NaiveFlexible(text)) << "'" << text << "'";
    }
  }
}

TEST(Gsm8k, StrictMatch) {
  EXPECT_EQ(StrictMatch("so 3\n#### 1,250\nand #### 7"), "1,250");
  EXPECT_EQ(StrictMatch("#### -3.5 apples"), "-3.5");
  EXPECT_EQ(StrictMatch("#### $5"), kNoAnswer);
  EXPECT_EQ(StrictMatch("#### none #### 4"), "4");
  EXPECT_EQ(StrictMatch("####5"), kNoAnswer);
  EXPECT_EQ(StrictMatch("##### 5"), "5");
}

TEST(Gsm8k, NormalForm) {
  EXPECT_EQ(Gsm8kNormal("$1,000."), "1000");
  EXPECT_EQ(Gsm8kNormal("a\n#### 3 b #### 70,000"), "70000");
  EXPECT_EQ(Gsm8kNormal("12.00"), "12.00");
  EXPECT_EQ(Gsm8kNormal("..."), "..");
  EXPECT_EQ(Gsm8kNormal("7.\n"), "7\n");
  EXPECT_EQ(Gsm8kNormal("ABC"), "abc");
}

TEST(Gsm8k, Judges) {
  const auto scorer = kGsm8kScorer.make({R"({"question": "How many?", "answer": "2 + 2 = 4\n#### 1,004"})"});
  ASSERT_EQ(scorer->items().size(), 1u);
  EXPECT_EQ(scorer->items()[0].gold, "1004");
  ScoreVerdict verdict = scorer->Judge(0, "#### 1004");
  EXPECT_EQ(verdict.values.at(kCorrect), 1);
  EXPECT_EQ(verdict.values.at("strict_match"), 1);
  verdict = scorer->Judge(0, "That makes $1,004.");
  EXPECT_EQ(verdict.extracted, "$1,004.");
  EXPECT_EQ(verdict.values.at(kCorrect), 1);
  EXPECT_EQ(verdict.values.at("strict_match"), 0);
  verdict = scorer->Judge(0, "1004 of 2000");
  EXPECT_EQ(verdict.values.at(kCorrect), 0);
  EXPECT_EQ(scorer->Judge(0, "").extracted, kNoAnswer);
}

TEST(Gsm8k, BadDataNamesTheLine) {
  for (const char* data : {"{}", R"({"question": "q", "answer": "no mark"})", "[1]", "nonsense"}) {
    EXPECT_THROW(kGsm8kScorer.make({data}), Error) << data;
  }
  try {
    kGsm8kScorer.make({"{\"question\": \"q\", \"answer\": \"#### 1\"}\n\n{\"question\": \"q\"}"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "line 3: no text under answer");
  }
}

}  // namespace
}  // namespace punt
