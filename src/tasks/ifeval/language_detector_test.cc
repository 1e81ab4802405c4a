#include "tasks/ifeval/language_detector.h"

#include <gtest/gtest.h>

#include "punt/error.h"
#include "tasks/ifeval/ifeval_testing.h"

namespace punt {
namespace {

using testing::DataFolder;
using Grams = std::map<std::string, int>;

std::string Unpack(std::uint64_t gram) {
  std::u32string codes;
  for (; gram != 0; gram >>= 21) codes.insert(codes.begin(), static_cast<char32_t>(gram & 0x1fffff));
  return testing::Utf8(codes);
}

Grams GramsOf(std::u32string_view text) {
  Grams grams;
  for (std::uint64_t gram : LanguageGrams(text)) ++grams[Unpack(gram)];
  return grams;
}

TEST(LanguageGrams, AreThoseCountedOneByOne) {
  EXPECT_EQ(GramsOf(U"ab c "), (Grams{{"a", 1},
                                      {"b", 1},
                                      {"c", 1},
                                      {" a", 1},
                                      {"ab", 1},
                                      {"b ", 1},
                                      {" ab", 1},
                                      {"ab ", 1},
                                      {" c", 1},
                                      {"c ", 1},
                                      {" c ", 1}}));
  for (const std::string words : {"a", "to be or not to be", "mississippi is a river", "x yy zzz"}) {
    EXPECT_EQ(GramsOf(CodePoints(words + " ")), testing::CountGrams(words)) << words;
  }
}

TEST(LanguageGrams, LeaveOutWhatSaysLittle) {
  const Grams plain = GramsOf(U"see this here");
  EXPECT_EQ(GramsOf(U"see  this, 12 here"), plain);
  EXPECT_EQ(GramsOf(U"see https://a.example/b?c=d this some.one@mail.example here"), plain);
  EXPECT_EQ(GramsOf(U"\u201csee\u201d this \u2014 here"), GramsOf(U" see this here"));
  EXPECT_EQ(GramsOf(U"AB"), (Grams{{"A", 1}, {" A", 1}}));  // nothing inside a word in capitals
  EXPECT_TRUE(GramsOf(U"123 ... \n").empty());
}

TEST(LanguageGrams, MergeCharacters) {
  EXPECT_EQ(GramsOf(U"\ud55c\uad6d"), GramsOf(U"\uac00\uac00"));  // Hangul
  EXPECT_EQ(GramsOf(U"a\u0323"), GramsOf(U"\u1ea1"));             // a Vietnamese vowel and its mark
  EXPECT_EQ(GramsOf(U"\u0431\u0440\u0430\u0442\u0430 x"), GramsOf(U"\u0431\u0440\u0430\u0442\u0430 "));  // a minority
}

class LanguageDetectorTest : public ::testing::Test {
 protected:
  LanguageDetectorTest() : folder_("languages") { testing::WriteProfiles(folder_); }
  LanguageDetector Open() const { return LanguageDetector::Open(folder_.Path("profiles")); }
  void ExpectError(const std::string& message) const {
    try {
      Open();
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  }

  DataFolder folder_;
};

TEST_F(LanguageDetectorTest, TellsLanguagesApart) {
  const LanguageDetector detector = Open();
  EXPECT_EQ(detector.languages(), (std::vector<std::string>{"de", "en"}));
  EXPECT_EQ(detector.Detect(U"That is the other thing."), "en");
  EXPECT_EQ(detector.Detect(U"Das ist der Himmel und die Sonne."), "de");
  EXPECT_EQ(detector.Detect(U"12 + 30 = 42"), std::nullopt);
  EXPECT_EQ(detector.Detect(U"\u0431\u0440\u0430\u0442"), std::nullopt);
  EXPECT_EQ(detector.Detect(U""), std::nullopt);
}

TEST_F(LanguageDetectorTest, RepeatingATextDoesNotChangeItsLanguage) {
  const LanguageDetector detector = Open();
  for (const std::u32string text : {U"the sonne ", U"der cat ", U"matte mat ", U"world "}) {
    std::u32string longer;
    for (int i = 0; i < 20; ++i) longer += text;
    EXPECT_EQ(detector.Detect(longer), detector.Detect(text));
  }
}

TEST_F(LanguageDetectorTest, NamesTheFileOfErrors) {
  folder_.Write("profiles/xx", "{");
  ExpectError("profiles/xx' is not a language profile");
  folder_.Write("profiles/xx", R"({"name": "xx", "freq": {"a": 2}, "n_words": [1, 1]})");
  ExpectError("n_words has 2 numbers");
  folder_.Write("profiles/xx", R"({"name": "xx", "freq": {"a": 2}, "n_words": [1, 1, 1]})");
  ExpectError("the count of 'a'");
  std::filesystem::remove_all(folder_.Path("profiles"));
  ExpectError("cannot read the folder");
  std::filesystem::create_directories(folder_.Path("profiles"));
  ExpectError("no language profiles in");
}

}  // namespace
}  // namespace punt
