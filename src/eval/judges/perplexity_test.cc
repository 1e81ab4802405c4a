#include "eval/judges/perplexity.h"

#include <gtest/gtest.h>

#include <vector>

#include "eval/tiny_llama_testing.h"
#include "weights/weights_testing.h"

namespace punt {
namespace {

TEST(Perplexity, IsOfAllTokensTogether) {
  const std::vector<Likelihood> texts = {{.nll = 2, .tokens = 2}, {.nll = 0, .tokens = 0}, {.nll = 10, .tokens = 4}};
  EXPECT_DOUBLE_EQ(NatsPerToken(texts).value().value, 2);
}

TEST(Perplexity, NeedsAToken) {
  EXPECT_FALSE(NatsPerToken({}).has_value());
  const std::vector<Likelihood> texts = {{.nll = 0, .tokens = 0}};
  EXPECT_FALSE(NatsPerToken(texts).has_value());
}

TEST(Perplexity, OneSpaceAtTheBeginningIsNotJudgedUnlessThereIsAnOpening) {
  const testing::TempFolder temp;
  testing::TinyLlama().Write(temp / "judge.gguf");
  TextJudge judge((temp / "judge.gguf").string(), 1);
  EXPECT_EQ(JudgeGenerated(judge, " a b ").nll, judge.Judge("a b ").nll);
  EXPECT_EQ(JudgeGenerated(judge, "  a b ").nll, judge.Judge(" a b ").nll);
  EXPECT_EQ(JudgeGenerated(judge, " a b ", "Q").nll, judge.Judge(" a b ", "Q").nll);
  EXPECT_NE(judge.Judge(" a b ").nll, judge.Judge("a b ").nll);
}

}  // namespace
}  // namespace punt
