#include "eval/judges/text_kernel.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "eval/stream.h"

namespace punt {
namespace {

TEST(TextKernel, LikenessByHand) {
  const TextGrams text("the cat sat. The dog"), same("The CAT sat the dog!"), none("seven blue birds flew south");
  EXPECT_NEAR(text.Likeness(same), 1, 1e-12);
  EXPECT_EQ(text.Likeness(none), 0);
  // Words: the 2/5, cat, sat, dog 1/5 each against the, cat 1/2 each; of pairs "the cat" is in common, 1/4 and 1;
  // longer runs have none.
  EXPECT_NEAR(text.Likeness(TextGrams("the cat")), (std::sqrt(0.2) + std::sqrt(0.1) + std::sqrt(0.25)) / 4, 1e-12);
  EXPECT_EQ(TextGrams("").Likeness(text), 0);
  EXPECT_EQ(TextGrams("").Likeness(TextGrams("")), 1);
  EXPECT_NEAR(TextGrams("the cat").Likeness(text), text.Likeness(TextGrams("the cat")), 1e-15);
}

/// Texts of 30 words out of 40; a higher `skew` likes the first ones more.
std::vector<PromptedText> Draw(std::uint64_t seed, std::size_t count, double skew, const std::string& prompt = "") {
  std::vector<PromptedText> texts;
  for (std::size_t i = 0; i < count; ++i) {
    RandomStream random = EvalStream("words", seed, i);
    std::string text;
    for (int w = 0; w < 30; ++w) text += fmt::format("w{} ", static_cast<int>(40 * std::pow(random.Uniform(), skew)));
    texts.push_back({prompt, text});
  }
  return texts;
}

TEST(TextKernel, OneLawHasEvenPValues) {
  int small = 0, half = 0;
  double sum = 0;
  for (std::uint64_t run = 0; run < 100; ++run) {
    const LawDistance distance = *DistanceOfLaws(Draw(2 * run, 12, 1), Draw(2 * run + 1, 15, 1));
    small += distance.p <= 0.05 ? 1 : 0;
    half += distance.p <= 0.5 ? 1 : 0;
    sum += distance.squared;
  }
  EXPECT_LE(small, 12);
  EXPECT_NEAR(half, 50, 20);
  EXPECT_NEAR(sum / 100, 0, 0.003);
}

TEST(TextKernel, TwoLawsAreToldApart) {
  const auto reference = Draw(1, 30, 1);
  const LawDistance near = *DistanceOfLaws(Draw(2, 30, 1.3), reference);
  const LawDistance far = *DistanceOfLaws(Draw(3, 30, 2), reference);
  EXPECT_LE(near.p, 0.05);
  EXPECT_EQ(far.p, 0.001);
  EXPECT_GT(far.squared, near.squared);
}

TEST(TextKernel, CopiesOfOneTextAreFarAway) {
  const auto reference = Draw(1, 20, 1);
  const std::vector<PromptedText> copies(20, Draw(5, 1, 1).front());
  EXPECT_EQ(DistanceOfLaws(copies, reference)->p, 0.001);
  EXPECT_FALSE(DistanceOfLaws(std::span(copies).first(1), reference));
}

TEST(TextKernel, PromptsAreNoDifference) {
  // Each prompt has a law of its own, and both sets have unequal shares of them.
  std::vector<PromptedText> texts = Draw(1, 20, 1, "a"), reference = Draw(2, 5, 1, "a");
  for (const PromptedText& text : Draw(3, 5, 3, "b")) texts.push_back(text);
  for (const PromptedText& text : Draw(4, 20, 3, "b")) reference.push_back(text);
  EXPECT_GT(DistanceOfLaws(texts, reference)->p, 0.05);
  for (PromptedText& text : texts) text.prompt = "";
  for (PromptedText& text : reference) text.prompt = "";
  EXPECT_LE(DistanceOfLaws(texts, reference)->p, 0.01);
}

TEST(TextKernel, SelfOverlapIsThatOfPairs) {
  const std::vector<std::string> texts = {"a b", "a b", "c d"};
  EXPECT_NEAR(SelfOverlap(texts)->value, (1 + 0.5 + 0.5) / 3, 1e-12);  // too short for runs of 3 and 4, which agree
  EXPECT_NEAR(SelfOverlap(std::vector<std::string>(7, "one and the same"))->value, 1, 1e-12);
  EXPECT_TRUE(SelfOverlap(texts)->ci95.has_value());
  EXPECT_FALSE(SelfOverlap(std::span(texts).first(1)));
  // Half of the texts have the same likeness as all of them, up to chance.
  std::vector<std::string> many;
  for (const PromptedText& text : Draw(9, 80, 1)) many.push_back(text.text);
  EXPECT_NEAR(SelfOverlap(many)->value, SelfOverlap(std::span(many).first(40))->value, 0.01);
}

}  // namespace
}  // namespace punt
