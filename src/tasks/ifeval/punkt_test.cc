#include "tasks/ifeval/punkt.h"

#include <gtest/gtest.h>

#include <random>

#include "punt/error.h"
#include "tasks/ifeval/ifeval_testing.h"
#include "tasks/ifeval/unicode_text.h"

namespace punt {
namespace {

using testing::DataFolder;
using testing::Utf8;
using Strings = std::vector<std::string>;

Strings ToUtf8(const std::vector<std::u32string_view>& parts) {
  Strings strings;
  for (std::u32string_view part : parts) strings.push_back(Utf8(part));
  return strings;
}

class PunktTest : public ::testing::Test {
 protected:
  PunktTest() : folder_("punkt") { testing::WritePunkt(folder_); }

  Strings Sentences(const std::u32string& text) const {
    return ToUtf8(Punkt(PunktParameters::Open(folder_.Path("punkt"))).Sentences(text));
  }
  void ExpectError(const std::string& message) const {
    try {
      PunktParameters::Open(folder_.Path("punkt"));
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  }

  DataFolder folder_;
};

TEST_F(PunktTest, EndsAtMarks) {
  EXPECT_EQ(Sentences(U"It rains. Is it cold?  Yes! So be it"),
            (Strings{"It rains.", "Is it cold?", "Yes!", "So be it"}));
  EXPECT_EQ(Sentences(U"Wait?! Go on.\n\nNow. \n"), (Strings{"Wait?!", "Go on.", "Now."}));
  EXPECT_EQ(Sentences(U"no mark\nat all"), (Strings{"no mark\nat all"}));
  EXPECT_EQ(Sentences(U"Version 2.0.1 of x.y is out"), (Strings{"Version 2.0.1 of x.y is out"}));
  EXPECT_TRUE(Sentences(U"").empty());
  EXPECT_TRUE(Sentences(U" \n").empty());
}

TEST_F(PunktTest, AbbreviationsGoOnUnlessASentenceBegins) {
  EXPECT_EQ(Sentences(U"Ask Dr. Oslo at once."), (Strings{"Ask Dr. Oslo at once."}));
  EXPECT_EQ(Sentences(U"Ask Dr. The end."), (Strings{"Ask Dr.", "The end."}));  // known in lower case
  EXPECT_EQ(Sentences(U"Ask Dr. We will."), (Strings{"Ask Dr.", "We will."}));  // a frequent starter
  EXPECT_EQ(Sentences(U"Fruit, e.g. pears."), (Strings{"Fruit, e.g. pears."}));
  EXPECT_EQ(Sentences(U"A vice-dr. Smith."), (Strings{"A vice-dr. Smith."}));  // the part behind the dash counts
}

TEST_F(PunktTest, NumbersInitialsAndCollocations) {
  EXPECT_EQ(Sentences(U"See p. 7 there."), (Strings{"See p. 7 there."}));
  EXPECT_EQ(Sentences(U"By A. Oslo himself."), (Strings{"By A. Oslo himself."}));
  EXPECT_EQ(Sentences(U"By A. The end."), (Strings{"By A.", "The end."}));
  EXPECT_EQ(Sentences(U"On May 5. we left."), (Strings{"On May 5. we left."}));
  EXPECT_EQ(Sentences(U"It was 5. The end."), (Strings{"It was 5.", "The end."}));
}

TEST_F(PunktTest, EllipsesNeedTheBeginningOfASentence) {
  EXPECT_EQ(Sentences(U"Well ... and so on."), (Strings{"Well ... and so on."}));
  EXPECT_EQ(Sentences(U"Well... The end."), (Strings{"Well...", "The end."}));
}

TEST_F(PunktTest, ClosingMarksGoWithTheirSentence) {
  EXPECT_EQ(Sentences(U"(It rains.) Then \"It snows.\" And so on."),
            (Strings{"(It rains.)", "Then \"It snows.\"", "And so on."}));
  EXPECT_EQ(Sentences(U"\"Stop!\""), (Strings{"\"Stop!\""}));
}

TEST_F(PunktTest, Words) {
  EXPECT_EQ(ToUtf8(PunktWords(U"Well-known: (e.g. 3,5), yes... or -- . . . no,")),
            (Strings{"Well-known", ":", "(", "e.g.", "3,5", ")", ",", "yes", "...", "or", "--", ". . .", "no", ","}));
}

TEST_F(PunktTest, SentencesAreDisjointPartsInOrderAndMissOnlyWhiteSpace) {
  const Punkt punkt(PunktParameters::Open(folder_.Path("punkt")));
  const std::u32string letters = U"aB.?! \n\")'-5";
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::u32string text;
    for (std::size_t size = random() % 14; text.size() < size;) text += letters[random() % letters.size()];
    const char32_t* at = text.data();
    for (std::u32string_view sentence : punkt.Sentences(text)) {
      ASSERT_FALSE(sentence.empty());
      ASSERT_GE(sentence.data(), at) << Utf8(text);
      const auto gap = static_cast<std::size_t>(sentence.data() - at);
      ASSERT_TRUE(IsBlank(std::u32string_view(at, gap))) << Utf8(text);
      at = sentence.data() + sentence.size();
    }
    const auto rest = static_cast<std::size_t>(text.data() + text.size() - at);
    ASSERT_TRUE(IsBlank(std::u32string_view(at, rest))) << Utf8(text);
  }
}

TEST_F(PunktTest, NamesFileAndLineOfErrors) {
  folder_.Write("punkt/ortho_context.tab", "the\t34\nno tab\n");
  ExpectError("ortho_context.tab' line 2: expected two columns");
  folder_.Write("punkt/ortho_context.tab", "the\tmany\n");
  ExpectError("ortho_context.tab' line 1: 'many' is not a set of contexts");
  folder_.Write("punkt/collocations.tab", "a\tb\na\tb\tc\n");
  ExpectError("collocations.tab' line 2");
  folder_.Write("punkt/abbrev_types.txt", "dr\n\xff\n");
  ExpectError("abbrev_types.txt' line 2: not valid UTF-8");
  std::filesystem::remove(folder_.Path("punkt/abbrev_types.txt"));
  ExpectError("cannot read");
}

}  // namespace
}  // namespace punt
