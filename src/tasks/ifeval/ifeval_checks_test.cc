#include "tasks/ifeval/ifeval_checks.h"

#include <gtest/gtest.h>

#include <random>
#include <regex>
#include <set>

#include "tasks/ifeval/ifeval_testing.h"

namespace punt {
namespace {

using testing::DataFolder;

class IfevalChecksTest : public ::testing::Test {
 protected:
  struct Arguments {
    long number = 0;
    bool at_least = true;
    std::vector<std::u32string> texts;
    long paragraph = 0;
  };

  IfevalChecksTest() : folder_("checks") {
    testing::WritePunkt(folder_);
    testing::WriteProfiles(folder_);
    punkt_ = std::make_unique<Punkt>(PunktParameters::Open(folder_.Path("punkt")));
    languages_ = std::make_unique<LanguageDetector>(LanguageDetector::Open(folder_.Path("profiles")));
  }

  bool Follows(std::string_view id, std::u32string_view text, const Arguments& arguments) const {
    const IfevalCheckRow* row = FindIfevalCheck(id);
    EXPECT_NE(row, nullptr) << id;
    const IfevalInstruction instruction = {row, arguments.number, arguments.at_least, arguments.texts,
                                           arguments.paragraph};
    return row->follows(instruction, text, {*punkt_, *languages_});
  }
  bool Follows(std::string_view id, std::u32string_view text) const { return Follows(id, text, Arguments{}); }

  /// What a check counts: the largest number that is still reached.
  long Count(std::string_view id, std::u32string_view text, Arguments arguments) const {
    arguments.number = 1;
    while (Follows(id, text, arguments)) ++arguments.number;
    return arguments.number - 1;
  }
  long Count(std::string_view id, std::u32string_view text) const { return Count(id, text, Arguments{}); }

  DataFolder folder_;
  std::unique_ptr<Punkt> punkt_;
  std::unique_ptr<LanguageDetector> languages_;
};

TEST_F(IfevalChecksTest, RowsAreSortedAndFound) {
  std::set<std::string_view> ids;
  for (const IfevalCheckRow& row : IfevalChecks()) {
    EXPECT_TRUE(ids.empty() || *ids.rbegin() < row.id) << row.id;
    EXPECT_EQ(FindIfevalCheck(row.id), &row);
    ids.insert(row.id);
  }
  EXPECT_EQ(ids.size(), 25u);
  EXPECT_EQ(FindIfevalCheck("keywords:none"), nullptr);
}

TEST_F(IfevalChecksTest, RelationsAreOpposites) {
  for (long number : {1, 2, 3}) {
    EXPECT_EQ(Follows("length_constraints:number_words", U"two words", {.number = number}), number <= 2);
    EXPECT_EQ(Follows("length_constraints:number_words", U"two words", {.number = number, .at_least = false}),
              number > 2);
  }
}

TEST_F(IfevalChecksTest, CaseAndLanguage) {
  EXPECT_EQ(Count("change_case:capital_word_frequency", U"The NASA team can NOT wait. I DO!"), 4);
  EXPECT_TRUE(Follows("change_case:english_lowercase", U"that is the other thing."));
  EXPECT_FALSE(Follows("change_case:english_lowercase", U"That is the other thing."));
  EXPECT_FALSE(Follows("change_case:english_lowercase", U"das ist der himmel und die sonne."));
  EXPECT_FALSE(Follows("change_case:english_capital", U"THE THing"));
  EXPECT_TRUE(Follows("change_case:english_capital", U"\u0416\u0416"));  // of no language that is known: any
  EXPECT_TRUE(Follows("language:response_language", U"Das ist der Himmel.", {.texts = {U"de"}}));
  EXPECT_FALSE(Follows("language:response_language", U"Das ist der Himmel.", {.texts = {U"en"}}));
  EXPECT_TRUE(Follows("language:response_language", U"1234", {.texts = {U"en"}}));
}

TEST_F(IfevalChecksTest, Keywords) {
  EXPECT_TRUE(Follows("keywords:existence", U"A Rainy day", {.texts = {U"rain", U"DAY"}}));
  EXPECT_FALSE(Follows("keywords:existence", U"A rainy day", {.texts = {U"rain", U"night"}}));
  EXPECT_TRUE(Follows("keywords:forbidden_words", U"A rainy day", {.texts = {U"rain", U"ay"}}));
  EXPECT_FALSE(Follows("keywords:forbidden_words", U"rainy, RAIN!", {.texts = {U"rain"}}));
  EXPECT_EQ(Count("keywords:frequency", U"Anana an ANA", {.texts = {U" ana "}}), 2);  // they do not overlap
  EXPECT_EQ(Count("keywords:letter_frequency", U"Ah, an apple", {.texts = {U"A"}}), 3);
  EXPECT_EQ(Count("keywords:letter_frequency", U"#a #b", {.texts = {U"#"}}), 2);
  EXPECT_FALSE(Follows("punctuation:no_comma", U"a, b"));
  EXPECT_TRUE(Follows("punctuation:no_comma", U"a\u060c b"));
}

TEST_F(IfevalChecksTest, Lengths) {
  EXPECT_EQ(Count("length_constraints:number_sentences", U"It rains. Ask Dr. Oslo. No!"), 3);
  EXPECT_EQ(Count("length_constraints:number_words", U"It's so-so."), 4);
  const auto paragraphs = [&](std::u32string_view text, long number) {
    return Follows("length_constraints:number_paragraphs", text, {.number = number});
  };
  EXPECT_TRUE(paragraphs(U"one\n***\ntwo", 2));
  EXPECT_TRUE(paragraphs(U"***\none *** two\n***", 2));
  EXPECT_FALSE(paragraphs(U"one *** *** two", 2));
  EXPECT_FALSE(paragraphs(U"one\n\ntwo", 2));
  const auto first_word = [&](std::u32string_view text, long number, long nth) {
    return Follows("length_constraints:nth_paragraph_first_word", text,
                   {.number = number, .texts = {U"Now"}, .paragraph = nth});
  };
  EXPECT_TRUE(first_word(U"Then.\n\n'\"NOW,\" he said", 2, 2));
  EXPECT_FALSE(first_word(U"Then.\n\nNowhere", 2, 2));
  EXPECT_FALSE(first_word(U"Then.\n\nNow", 3, 2));
  EXPECT_FALSE(first_word(U"\n\nThen.\n\nNow", 2, 2));  // a blank one is no paragraph, but has its place
  EXPECT_TRUE(first_word(U"Now\n\n\n\nThen.", 2, 1));
}

TEST_F(IfevalChecksTest, Format) {
  EXPECT_EQ(Count("detectable_content:number_placeholders", U"[a] [b [c] [\n] []"), 3);
  EXPECT_EQ(Count("detectable_format:number_highlighted_sections", U"*a* **b** * * **** *c\nd*"), 2);  // a, b
  EXPECT_EQ(Count("detectable_format:multiple_sections", U"Section 1 a Section2 Section x SECTION 3",
                  {.texts = {U"Section"}}),
            2);
  EXPECT_TRUE(Follows("detectable_format:title", U"x <<A title>> y"));
  for (std::u32string_view text : {U"<<A\ntitle>>", U"<< >>", U"<<>>", U"<<<>>>", U"<A title>"}) {
    EXPECT_FALSE(Follows("detectable_format:title", text));
  }
  EXPECT_TRUE(Follows("detectable_format:json_format", U" ```json\n{\"a\": [1, 2]}\n```\n"));
  EXPECT_TRUE(Follows("detectable_format:json_format", U"3"));
  EXPECT_FALSE(Follows("detectable_format:json_format", U"Here: {\"a\": 1}"));
}

TEST_F(IfevalChecksTest, BulletListsHaveExactlyTheNumber) {
  const auto bullets = [&](std::u32string_view text, long number) {
    return Follows("detectable_format:number_bullet_lists", text, {.number = number});
  };
  EXPECT_TRUE(bullets(U"List:\n* a\n  * b\n- c\n** not\n*", 3));
  EXPECT_FALSE(bullets(U"* a\n* b", 1));
  EXPECT_TRUE(bullets(U"*\ntaken in\n* b", 2));
  EXPECT_TRUE(bullets(U"*\n* taken in", 1));
}

TEST_F(IfevalChecksTest, Wording) {
  EXPECT_TRUE(Follows("detectable_format:constrained_response", U"Well. My answer is no."));
  EXPECT_FALSE(Follows("detectable_format:constrained_response", U"My answer is no"));
  const std::string_view postscript = "detectable_content:postscript";
  for (std::u32string_view text : {U"P.S. Hi", U"a p. s. b"})
    EXPECT_TRUE(Follows(postscript, text, {.texts = {U"P.S."}}));
  for (std::u32string_view text : {U"PS", U"p.  s.", U"p.s", U""}) {
    EXPECT_FALSE(Follows(postscript, text, {.texts = {U"P.S."}}));
  }
  EXPECT_TRUE(Follows(postscript, U"P. P.\nS", {.texts = {U"P.P.S"}}));
  EXPECT_FALSE(Follows(postscript, U"P.S.", {.texts = {U"P.P.S"}}));
  EXPECT_TRUE(Follows(postscript, U"and n.b. this", {.texts = {U"N.B."}}));
  EXPECT_TRUE(Follows("startend:end_checker", U"\"Is that ALL?\"\n", {.texts = {U"that all? "}}));
  EXPECT_FALSE(Follows("startend:end_checker", U"Is that all? Yes", {.texts = {U"that all?"}}));
  EXPECT_TRUE(Follows("startend:quotation", U" \"So\"\n"));
  EXPECT_FALSE(Follows("startend:quotation", U"\""));
  EXPECT_TRUE(Follows("combination:repeat_prompt", U" say IT. Well", {.texts = {U"Say it."}}));
  EXPECT_FALSE(Follows("combination:repeat_prompt", U"I say it.", {.texts = {U"Say it."}}));
  EXPECT_TRUE(Follows("combination:two_responses", U"a\n******\nb"));
  EXPECT_FALSE(Follows("combination:two_responses", U"a ****** a"));
  EXPECT_FALSE(Follows("combination:two_responses", U"a ****** ****** b"));
  EXPECT_FALSE(Follows("combination:two_responses", U"a *** b"));
}

/// The counts that the benchmark defines by regular expressions, by those expressions.
long CountMatches(const std::string& text, const std::string& expression) {
  const std::regex regex(expression);
  return std::distance(std::sregex_iterator(text.begin(), text.end(), regex), std::sregex_iterator());
}

TEST_F(IfevalChecksTest, CountsAreThoseOfRegularExpressions) {
  const std::string letters = "*-[]a1S \n";
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (std::size_t size = 1 + random() % 12; text.size() < size;) text += letters[random() % letters.size()];
    const std::u32string codes = CodePoints(text);
    EXPECT_EQ(Count("detectable_content:number_placeholders", codes), CountMatches(text, "\\[[^\\n]*?\\]")) << text;
    EXPECT_EQ(Count("detectable_format:multiple_sections", codes, {.texts = {U"S"}}),
              CountMatches(text, "\\s?S\\s?\\d+\\s?"))
        << text;
    if (CountMatches(text, "\\* *\\*") == 0) {  // blank ones do not count
      EXPECT_EQ(Count("detectable_format:number_highlighted_sections", codes), CountMatches(text, "\\*[^\\n*]*\\*"))
          << text;
    }
    const long bullets =
        CountMatches("\n" + text, "\\n\\s*\\*[^*][^\\n]*") + CountMatches("\n" + text, "\\n\\s*-[^\\n]*");
    if (text.find("*\n") == std::string::npos) {  // there the lines would overlap
      EXPECT_TRUE(Follows("detectable_format:number_bullet_lists", codes, {.number = bullets})) << text;
    }
  }
}

}  // namespace
}  // namespace punt
