// Texts that grow: what was sent is never taken back, and all of it together is the finished text.
#include "writer/growing_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "denoise/row_model_testing.h"

namespace punt {
namespace {

// Tokens 3, 4, ... ; the last two are halves of a character.
const std::vector<std::string> kPieces = {"a", "b", "ab", " ", "\xc3", "\xa9"};
constexpr Token kEos = 1;
constexpr Token kMask = 2;
constexpr Token kA = 3;
constexpr Token kB = 4;
constexpr Token kHalf = 7;
constexpr Token kOtherHalf = 8;

Model Pieces() {
  return testing::MakeRowModel(kPieces, 64,
                               [](std::span<const Token>, Position) { return std::vector<double>(9, 0.0); });
}

TEST(GrowingText, SendsTheTextLeftOfTheFirstMaskOnce) {
  const Model model = Pieces();
  GrowingText text(model, {.begin = 1, .end = 5}, {});
  EXPECT_EQ(text.Settled(std::vector<Token>{0, kMask, kA, kMask, kMask}), "");
  EXPECT_EQ(text.Settled(std::vector<Token>{0, kB, kA, kMask, kMask}), "ba");
  EXPECT_EQ(text.Settled(std::vector<Token>{0, kB, kA, kMask, kB}), "");
  EXPECT_EQ(text.Settled(std::vector<Token>{0, kB, kA, kA, kB}), "ab");
  EXPECT_EQ(text.Settled(std::vector<Token>{0, kB, kA, kA, kB}, true), "");
}

TEST(GrowingText, WaitsForWholeCharacters) {
  const Model model = Pieces();
  GrowingText text(model, {.begin = 0, .end = 3}, {});
  EXPECT_EQ(text.Settled(std::vector<Token>{kA, kHalf, kMask}), "a");
  EXPECT_EQ(text.Settled(std::vector<Token>{kA, kHalf, kOtherHalf}), "\xc3\xa9");
}

TEST(GrowingText, EndsAtTheEndOfTheSequence) {
  const Model model = Pieces();
  GrowingText text(model, {.begin = 0, .end = 4}, {});
  const std::vector<Token> canvas = {kA, kB, kEos, kA};
  EXPECT_EQ(text.Settled(canvas), "ab");
  const FinishedText finished = text.Finish(canvas);
  EXPECT_EQ(finished.text, "ab");
  EXPECT_EQ(finished.tokens, 2);
  EXPECT_EQ(finished.finish_reason, "stop");
  EXPECT_EQ(text.Finish(std::vector<Token>{kA, kB, kA, kA}).finish_reason, "length");
  EXPECT_EQ(text.Finish(std::vector<Token>{kA, kMask, kEos, kA}).finish_reason, "length");
}

TEST(GrowingText, ControlTokensAreNoText) {
  constexpr Token kBos = 0;
  const Model model = Pieces();
  for (const bool goes_on : {false, true}) {
    GrowingText text(model, {.begin = 1, .end = 5, .goes_on = goes_on}, {});
    EXPECT_EQ(text.Settled(std::vector<Token>{kBos, kBos, kA, kMask, kBos}), "a");
    const std::vector<Token> canvas = {kBos, kBos, kA, kBos, kB};
    EXPECT_EQ(text.Settled(canvas, true), "b");
    EXPECT_EQ(text.Snapshot(canvas), "ab");
    EXPECT_EQ(text.Finish(canvas).text, "ab");
    EXPECT_EQ(text.Finish(canvas).tokens, 4);
  }
}

TEST(GrowingText, HoldsBackWhatMayBecomeAStop) {
  const Model model = Pieces();
  GrowingText text(model, {.begin = 0, .end = 4}, {"bab"});
  EXPECT_EQ(text.Settled(std::vector<Token>{kA, kB, kMask, kMask}), "a");
  EXPECT_EQ(text.Settled(std::vector<Token>{kA, kB, kA, kMask}), "");
  EXPECT_FALSE(text.has_stopped());
  const std::vector<Token> canvas = {kA, kB, kA, kB};
  EXPECT_EQ(text.Settled(canvas), "");
  EXPECT_TRUE(text.has_stopped());
  EXPECT_EQ(text.Finish(canvas).text, "a");
  EXPECT_EQ(text.Finish(canvas).tokens, 1);
  EXPECT_EQ(text.Finish(canvas).finish_reason, "stop");
}

TEST(GrowingText, SnapshotsShowMasks) {
  const Model model = Pieces();
  const GrowingText text(model, {.begin = 0, .end = 5}, {"ab"});
  EXPECT_EQ(text.Snapshot(std::vector<Token>{kMask, kA, kMask, kEos, kA}),
            "\xe2\x96\x91"
            "a"
            "\xe2\x96\x91");
  EXPECT_EQ(text.Snapshot(std::vector<Token>{kB, kA, kB, kA, kA}), "b");
}

/// The tokenizer of the stories, which drops the space in front of a first word.
TEST(GrowingText, GoesOnFromTheTextBeforeIt) {
  const Model model = OpenModel(PUNT_SOURCE_DIR "/models/stories.gguf");
  std::vector<Token> canvas = model.tokenizer->Encode("Once upon");
  const std::size_t begin = canvas.size();
  for (Token token : model.tokenizer->Encode("a time")) canvas.push_back(token);
  const std::size_t end = canvas.size();
  GrowingText after(model, {.begin = begin, .end = end, .goes_on = true}, {"time"});
  EXPECT_EQ(after.Finish(canvas).text, " a ");
  EXPECT_EQ(after.Finish(canvas).tokens, 2);
  EXPECT_EQ(after.Settled(canvas), " a ");
  GrowingText alone(model, {.begin = begin, .end = end}, {});
  EXPECT_EQ(alone.Finish(canvas).text, "a time");
  canvas[begin] = model.denoiser->info().mask_token;
  EXPECT_EQ(alone.Snapshot(canvas), "\xe2\x96\x91 time");
}

/// A prompt that ends with a space, before a hole: the hole begins with that space, which nobody is told twice.
TEST(GrowingText, TheSpaceOfThePromptIsToldOnce) {
  const Model model = OpenModel(PUNT_SOURCE_DIR "/models/stories.gguf");
  const std::string prompt = "Once upon ";
  std::vector<Token> canvas = model.tokenizer->Encode(prompt, {.before_hole = true});
  const std::size_t begin = canvas.size();
  for (Token token : model.tokenizer->Encode(" a time", {.behind_hole = true})) canvas.push_back(token);
  GrowingText text(model, {.begin = begin, .end = canvas.size(), .goes_on = true, .has_space = true}, {});
  EXPECT_EQ(prompt + text.Finish(canvas).text, "Once upon a time");
  std::string parts;
  std::vector<Token> filling(canvas.size(), model.denoiser->info().mask_token);
  for (std::size_t i = 0; i < canvas.size(); ++i) {
    filling[i] = canvas[i];
    parts += text.Settled(filling, i + 1 == canvas.size());
  }
  EXPECT_EQ(parts, "a time");
  EXPECT_EQ(text.Snapshot(canvas), "a time");
}

/// Any order of filling: the parts that were sent are the finished text, whatever the stops.
TEST(GrowingText, PartsAddUp) {
  const Model model = Pieces();
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<Token> full(12);
    for (Token& token : full) token = std::uniform_int_distribution<Token>(random() % 8 == 0 ? 1 : 3, 6)(random);
    std::replace(full.begin(), full.end(), kMask, kA);
    std::vector<std::size_t> order(full.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    const std::vector<std::string> stops =
        round % 3 == 0 ? std::vector<std::string>{} : std::vector<std::string>{"bb", "ab a"};
    GrowingText text(model, {.begin = 0, .end = full.size()}, stops);
    std::vector<Token> canvas(full.size(), kMask);
    std::string sent;
    for (std::size_t at : order) {
      canvas[at] = full[at];
      sent += text.Settled(canvas);
      ASSERT_EQ(text.Finish(full).text.substr(0, sent.size()), sent);
    }
    sent += text.Settled(canvas, true);
    EXPECT_EQ(sent, text.Finish(full).text);
  }
}

}  // namespace
}  // namespace punt
