#include "app/options.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "app/request.h"
#include "base/error_testing.h"
#include "punt/error.h"
#include "writer/ask_canvas.h"

namespace punt {
namespace {

TEST(ParseInteger, TakesWholeNumbersInRange) {
  EXPECT_EQ(ParseInteger("0", "--n", 0, 5), 0);
  EXPECT_EQ(ParseInteger("-3", "--n", -5, 5), -3);
  EXPECT_EQ(ErrorOf([] { ParseInteger("6", "--n", 1, 5); }), "--n must be between 1 and 5, got 6");
  EXPECT_EQ(ErrorOf([] { ParseInteger("0", "--n", 1, 5); }), "--n must be between 1 and 5, got 0");
  EXPECT_EQ(ErrorOf([] { ParseInteger("99999999999999999999999", "--n", 1, 5); }),
            "--n must be between 1 and 5, got 99999999999999999999999");
  for (const char* bad : {"", "x", "1e9", "1.0", "1 ", " 1", "+1", "0x10"}) {
    EXPECT_EQ(ErrorOf([&] { ParseInteger(bad, "--n", 0, 5); }),
              std::string("--n must be a whole number, got '") + bad + "'");
  }
}

TEST(ParseSeed, TakesAll64Bits) {
  EXPECT_EQ(ParseSeed("18446744073709551615", "--seed"), 18446744073709551615u);
  for (const char* bad : {"18446744073709551616", "-1", "", "1.5"}) {
    EXPECT_NE(ErrorOf([&] { ParseSeed(bad, "--seed"); }), "accepted") << bad;
  }
}

TEST(ParseReal, TakesFiniteNumbersInRange) {
  EXPECT_EQ(ParseReal("0.5", "--x", 0, 1), 0.5);
  EXPECT_EQ(ParseReal("1e-3", "--x", 0, 1), 1e-3);
  for (const char* bad : {"nan", "inf", "-0.1", "1e999", "", "0,5", "2"}) {
    EXPECT_NE(ErrorOf([&] { ParseReal(bad, "--x", 0, 1); }), "accepted") << bad;
  }
}

TEST(ParseHoles, TakesTextApart) {
  const std::vector<Stretch> parts = ParseHoles("ab[MASK:12]c[MASK]");
  ASSERT_EQ(parts.size(), 4u);
  EXPECT_EQ(parts[0].text, "ab");
  EXPECT_EQ(parts[1].masks, 12);
  EXPECT_EQ(parts[2].text, "c");
  EXPECT_EQ(parts[3].masks, 1);
  EXPECT_EQ(ErrorOf([] { ParseHoles(""); }), "the infill is empty");
  EXPECT_EQ(ParseHoles("[M[MASK:2]").front().text, "[M");
}

TEST(ParseHoles, RefusesBadHoles) {
  for (const char* bad : {"[MASK", "[MASK:", "[MASK:]", "[MASK:0]", "[MASK:-1]", "[MASK:x]", "[MASK:1e3]", "[MASKED]",
                          "[MASK:99999999999999999999]", "[mask]", "a[Mask:3]b", "a[mask:3]b[MASK:3]", "[MASK 3]",
                          "[MASK:2] a [MAKS:4] b"}) {
    EXPECT_NE(ErrorOf([&] { ParseHoles(bad); }).find("hole"), std::string::npos) << bad;
  }
  EXPECT_EQ(ErrorOf([] { ParseHoles("a [mask:3] b"); }), "a hole is written [MASK] or [MASK:n], got '[mask:3]'");
  EXPECT_EQ(ErrorOf([] { ParseHoles("no holes"); }),
            "the infill has no hole to fill; one of n tokens is written [MASK:n]");
}

std::vector<Token> CanvasFor(const CanvasRequest& request, const Model& model) {
  return BuildCanvas(AskOf(request), model).tokens;
}

class BuildCanvasTest : public testing::Test {
 protected:
  Model model_ = OpenModel("toy:markov,length=8,vocab=4,seed=1");
  Token mask_ = model_.denoiser->info().mask_token;

  std::vector<Token> Masks(int n) const { return std::vector<Token>(static_cast<std::size_t>(n), mask_); }
  std::string ErrorFor(const CanvasRequest& request) {
    return ErrorOf([&] { CanvasFor(request, model_); });
  }
};

TEST_F(BuildCanvasTest, FillsTheModelByDefault) {
  EXPECT_EQ(CanvasFor({}, model_), Masks(8));
  EXPECT_EQ(CanvasFor({.prompt = "ab"}, model_), (std::vector<Token>{0, 1, mask_, mask_, mask_, mask_, mask_, mask_}));
  EXPECT_EQ(CanvasFor({.prompt = "ab", .length = 1}, model_), (std::vector<Token>{0, 1, mask_}));
  EXPECT_EQ(CanvasFor({.prompt = "abcdabcd"}, model_), (std::vector<Token>{0, 1, 2, 3, 0, 1, 2, 3}));
}

TEST_F(BuildCanvasTest, OpensHoles) {
  EXPECT_EQ(CanvasFor({.infill = "a[MASK:3]b"}, model_), (std::vector<Token>{0, mask_, mask_, mask_, 1}));
  EXPECT_EQ(CanvasFor({.infill = "ab [MASK:2] [MASK:1] c"}, model_),
            (std::vector<Token>{0, 1, mask_, mask_, mask_, 2}));
  EXPECT_EQ(CanvasFor({.infill = "[MASK:8]"}, model_), Masks(8));
}

TEST_F(BuildCanvasTest, HolesInPromptsAreText) {
  const Model stories = OpenModel(PUNT_SOURCE_DIR "/models/stories.gguf");
  const Token mask = stories.denoiser->info().mask_token;
  for (const char* prompt : {"a [MASK:3] b", "a [MASK]", "</s><s>"}) {
    const std::vector<Token> canvas = CanvasFor({.prompt = prompt, .length = 0}, stories);
    EXPECT_EQ(std::count(canvas.begin(), canvas.end(), mask), 0) << prompt;
    EXPECT_EQ(stories.tokenizer->Decode(std::span(canvas).subspan(1)), prompt);
    EXPECT_EQ(PromptWarnings({.prompt = prompt}, stories).size(),
              std::string(prompt).find("[MASK") != std::string::npos);
  }
  const std::string spelled = "a" + stories.tokenizer->Piece(mask);
  const std::vector<Token> canvas = CanvasFor({.prompt = spelled, .length = 0}, stories);
  EXPECT_EQ(std::count(canvas.begin(), canvas.end(), mask), 0);
  EXPECT_EQ(PromptWarnings({.prompt = spelled}, stories).size(), 1u);
}

/// The README's example, by its tokens: those of the whole text, with masks for the hole's.
TEST_F(BuildCanvasTest, TextAroundHolesIsAsInTheWholeText) {
  const Model stories = OpenModel(PUNT_SOURCE_DIR "/models/stories.gguf");
  std::vector<Token> whole = stories.tokenizer->Prefix();
  for (Token token : stories.tokenizer->Encode("Tom found a big red ball. He gave it to his mom."))
    whole.push_back(token);
  for (const char* word : {" big", " red", " ball"}) {
    const auto is_word = [&](Token token) { return stories.tokenizer->Piece(token) == word; };
    std::replace_if(whole.begin(), whole.end(), is_word, stories.denoiser->info().mask_token);
  }
  for (const char* written :
       {"Tom found a [MASK:3]. He gave it to his mom.", "Tom found a[MASK:3]. He gave it to his mom.",
        "Tom found a [MASK:1] [MASK:2]. He gave it to his mom."}) {
    EXPECT_EQ(CanvasFor({.infill = written}, stories), whole) << written;
  }
}

TEST_F(BuildCanvasTest, RefusesTextsByTheirSize) {
  const std::string much(8 * 400 + 1, 'a');
  EXPECT_EQ(ErrorFor({.prompt = much}),
            "the prompt has 3201 bytes, more than the 8 tokens that " + model_.name + " takes can hold");
  EXPECT_NE(ErrorFor({.infill = much + "[MASK:1]"}).find("more than the 8 tokens"), std::string::npos);
}

TEST_F(BuildCanvasTest, RefusesWhatDoesNotFit) {
  EXPECT_NE(ErrorFor({.prompt = "abcdabcda"}).find("the prompt has 9 tokens"), std::string::npos);
  EXPECT_NE(ErrorFor({.prompt = "abcdabcd", .length = 1}).find("exceed the 8"), std::string::npos);
  EXPECT_NE(ErrorFor({.length = 99999999999}).find("99999999999 positions to generate exceed the 8"),
            std::string::npos);
  EXPECT_NE(ErrorFor({.infill = "a[MASK:8]"}).find("exceed the 8"), std::string::npos);
  EXPECT_NE(ErrorFor({.infill = "[MASK:4][MASK:4]a"}).find("exceed the 8"), std::string::npos);
  EXPECT_NE(ErrorFor({.infill = "[MASK:16000000]"}).find("exceed the 8"), std::string::npos);
}

TEST_F(BuildCanvasTest, RefusesWhatMakesNoSense) {
  EXPECT_EQ(ErrorFor({.infill = ""}), "the infill is empty");
  EXPECT_NE(ErrorFor({.prompt = "a", .infill = "b"}), "accepted");
  EXPECT_NE(ErrorFor({.infill = "b", .length = 1}), "accepted");
  EXPECT_EQ(ErrorFor({.prompt = "a\xff"}), "the prompt is not valid UTF-8");
  EXPECT_EQ(ErrorFor({.infill = "a\xff[MASK]"}), "the infill is not valid UTF-8");
  EXPECT_NE(ErrorFor({.prompt = "a_"}).find("holds a mask"), std::string::npos);
  EXPECT_NE(ErrorFor({.prompt = "ax"}), "accepted");  // outside the vocabulary
}

TEST(Colour, FollowsChoiceAndEnvironment) {
  std::FILE* file = std::tmpfile();
  EXPECT_FALSE(WantsColour(ColourChoice::kAuto, file));
  EXPECT_TRUE(WantsColour(ColourChoice::kAlways, file));
  EXPECT_FALSE(WantsColour(ColourChoice::kNever, file));
  EXPECT_NE(ErrorOf([] { ParseColourChoice("sometimes"); }), "accepted");
  std::fclose(file);
}

TEST(ViewFlags, LiveBecomesPlainWithoutATerminal) {
  std::FILE* file = std::tmpfile();
  ViewFlags flags;
  EXPECT_EQ(flags.Options(file, ViewKind::kNone).kind, ViewKind::kNone);
  EXPECT_EQ(flags.Options(file, ViewKind::kPlain).kind, ViewKind::kPlain);
  flags.view = "live";
  EXPECT_EQ(flags.Options(file, ViewKind::kNone).kind, ViewKind::kPlain);
  flags.view = "none";
  EXPECT_EQ(flags.Options(file, ViewKind::kPlain).kind, ViewKind::kNone);
  flags.view = "loud";
  EXPECT_NE(ErrorOf([&] { flags.Options(file, ViewKind::kNone); }), "accepted");
  std::fclose(file);
}

TEST(Terminal, HasASizeEvenWithoutOne) {
  std::FILE* file = std::tmpfile();
  EXPECT_EQ(SizeOf(file).columns, 80);
  EXPECT_EQ(SizeOf(file).lines, 24);
  EXPECT_FALSE(IsTerminal(file));
  std::fclose(file);
}

}  // namespace
}  // namespace punt
