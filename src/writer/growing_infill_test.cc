// Answers of models that decide how long a hole becomes.
#include <gtest/gtest.h>

#include <set>

#include "base/error_testing.h"
#include "denoise/row_model_testing.h"
#include "punt/random.h"
#include "punt/writer.h"
#include "weights/weights_testing.h"

namespace punt {
namespace {

constexpr Token kEos = 1, kMask = 2, kA = 3, kExpand = 5;

Writer MakeWriter() {
  const auto rows = [](std::span<const Token> canvas, Position position) {
    std::uint64_t state = static_cast<std::uint64_t>(position);
    for (Token token : canvas) state = Mix64(state * 8 + static_cast<std::uint64_t>(token));
    RandomStream random(Mix64(state));
    std::vector<double> row(7, -INFINITY);
    for (Token token : {kEos, kA, kA + 1, kExpand}) row[static_cast<std::size_t>(token)] = 2 * random.Uniform();
    return row;
  };
  Model model = testing::MakeRowModel({"a", "b", "<+>", "."}, 40, rows);
  DenoiserInfo info = model.denoiser->info();
  info.length_tokens = {.expand = kExpand, .remove = kEos};
  model.denoiser = std::make_shared<testing::RowDenoiser>(info, rows);
  return Writer(std::move(model), 1);
}

TEST(GrowingInfill, TheAnswerIsTheWholeText) {
  const Writer writer = MakeWriter();
  std::set<std::size_t> sizes;
  for (std::uint64_t sample = 0; sample < 60; ++sample) {
    std::string told;
    const Ask ask{.infill = ParseHoles(".[MASK:3]..[MASK:2]."), .sample = sample};
    const Sampling sampling{.planner = "top-k:k=2", .grow_to = 8};
    const Answer answer = writer.Write(ask, sampling, {.on_text = [&](std::string_view more) { told += more; }});
    EXPECT_EQ(told, answer.text);
    EXPECT_EQ(answer.text.front(), '.');
    EXPECT_EQ(answer.text.back(), '.');
    EXPECT_NE(answer.text.find(".."), std::string::npos);
    EXPECT_EQ(answer.text.find_first_not_of("ab."), std::string::npos) << answer.text;
    EXPECT_EQ(answer.tokens, static_cast<int>(answer.text.size()));
    EXPECT_EQ(answer.run.tokens.size(), answer.text.size() + 1);  // BOS
    EXPECT_LE(answer.run.generated.size(), 8u);
    sizes.insert(answer.text.size());
  }
  EXPECT_GT(sizes.size(), 4u);
  EXPECT_EQ(*sizes.rbegin(), 4u + 8u) << "some reach the bound";
}

TEST(GrowingInfill, TogetherAsAlone) {
  const Writer writer = MakeWriter();
  std::vector<Ask> asks;
  for (std::uint64_t sample = 0; sample < 5; ++sample)
    asks.push_back({.infill = ParseHoles("a[MASK:3]b"), .sample = sample});
  asks.push_back({.prompt = "ab", .length = 4});
  const std::vector<Answer> together = writer.WriteBatch(asks, {});
  for (std::size_t i = 0; i < asks.size(); ++i) EXPECT_EQ(together[i].run.tokens, writer.Write(asks[i]).run.tokens);
}

TEST(GrowingInfill, AnswersToAPromptHaveTheLengthThatWasAskedFor) {
  const Writer writer = MakeWriter();
  for (std::uint64_t sample = 0; sample < 20; ++sample) {
    const Answer answer = writer.Write({.prompt = "ab", .length = 5, .sample = sample});
    EXPECT_EQ(answer.run.tokens.size(), 8u);
    EXPECT_EQ(answer.text.find("<+>"), std::string::npos);
    const Answer fixed = writer.Write({.infill = ParseHoles("a[MASK:3]b"), .sample = sample}, {.grow_to = 0});
    EXPECT_EQ(fixed.run.tokens.size(), 6u);
  }
}

// DreamOn's vocabulary on a network with random weights: its end of sequence removes.
TEST(GrowingInfill, ANetworkWithTheTokensDecidesTheLength) {
  testing::GoldenCopy folder("dream");
  for (const char* name : {"tokenizer.json", "added_tokens.json"}) {
    std::string text = testing::ReadAll(folder.path() / name);
    testing::WriteAll(folder.path() / name, text.replace(text.find("\"<tool_call>\""), 13, "\"<|expand|>\""));
  }
  const Writer writer = Writer::Open(folder.path().string(), {}, 1);
  EXPECT_TRUE(writer.model().denoiser->info().length_tokens.is_known());
  EXPECT_FALSE(Writer::Open((testing::kGolden / "dream").string()).model().denoiser->info().length_tokens.is_known());
  std::set<std::size_t> sizes, fixed;
  for (std::uint64_t sample = 0; sample < 60; ++sample) {
    const Ask ask{.infill = ParseHoles("one [MASK:4] two [MASK:3] three"), .sample = sample};
    const Answer answer = writer.Write(ask, {.planner = "top-k:k=2", .temperature = 3});
    EXPECT_EQ(answer.text.find("<|expand|>"), std::string::npos);
    EXPECT_EQ(answer.text.substr(0, 3), "one");
    sizes.insert(answer.run.tokens.size());
    fixed.insert(writer.Write(ask, {.planner = "top-k:k=2", .temperature = 3, .grow_to = 0}).run.tokens.size());
  }
  EXPECT_GT(sizes.size(), 1u);
  EXPECT_EQ(fixed.size(), 1u);
}

TEST(GrowingInfill, NobodyTypesTheToken) {
  const Writer writer = MakeWriter();
  EXPECT_EQ(ErrorOf([&] {
              writer.Write({.tokens = std::vector<Token>{0, kExpand}});
            }),
            "the prompt holds 5, which stands for no text");
  EXPECT_EQ(ErrorOf([&] { writer.Write({.tokens = std::vector<Token>{0, kEos}}); }), "accepted");
}

TEST(GrowingInfill, RefusesWhatNeedsAFixedLength) {
  const Writer writer = MakeWriter();
  const auto refusal = [&](const Sampling& sampling) {
    return ErrorOf([&] { writer.Write({.infill = ParseHoles("a[MASK:3]b")}, sampling); });
  };
  EXPECT_EQ(refusal({.stop = {"b"}}), "no stop strings: the model decides how long the text becomes");
  EXPECT_EQ(refusal({.window = 1}), "no window of 1: the model decides how long the text becomes");
  EXPECT_EQ(refusal({.window = 1, .grow_to = 0}), "accepted");
}

}  // namespace
}  // namespace punt
