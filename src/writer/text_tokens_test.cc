#include "writer/text_tokens.h"

#include <gtest/gtest.h>

#include <cmath>

#include "denoise/row_model_testing.h"
#include "punt/writer.h"

namespace punt {
namespace {

using testing::MakeRowModel;

/// Tokens 3.. are the pieces; what comes next depends on nothing.
Model Pieces() {
  return MakeRowModel({"He", " r\xc3", "\xa4", "n", "!"}, 16, [](std::span<const Token>, Position position) {
    std::vector<double> row(8, -INFINITY);
    for (std::size_t v = 3; v < 8; ++v) row[v] = std::cos(static_cast<double>(v) * static_cast<double>(position + 1));
    return row;
  });
}

std::map<Position, CommitRow> RowAt(Position position) {
  return {{position, {.position = position, .step = 7, .token = 0, .log_prob = -0.25}}};
}

TEST(TextTokens, TokensReadTogetherAsTheText) {
  const Model model = Pieces();
  const GrowingText text(model, {.begin = 1, .end = 7, .goes_on = false}, {});
  const std::vector<Token> canvas = {0, 3, 4, 5, 6, 7, 7};
  TextTokens tokens(text);
  const std::vector<TextToken> first = tokens.UpTo(canvas, 2, RowAt(2));
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0].text, "He");
  EXPECT_FALSE(first[0].row.has_value()) << "it was given";
  EXPECT_EQ(first[1].text, " r\xc3");
  EXPECT_EQ(first[1].row->step, 7);
  const std::vector<TextToken> rest = tokens.UpTo(canvas, 5, {});
  ASSERT_EQ(rest.size(), 3u);
  EXPECT_EQ(rest[0].text, "\xa4") << "a part of a character";
  EXPECT_EQ(rest[1].offset, 5u) << "characters, not bytes";
}

TEST(TextTokens, OnlyWhatHasBeenSentIsTold) {
  const Model model = Pieces();
  const GrowingText text(model, {.begin = 1, .end = 5, .goes_on = false}, {});
  const std::vector<Token> canvas = {0, 3, 4, 5, 2};
  TextTokens tokens(text);
  EXPECT_EQ(tokens.Within(canvas, 1, {}).size(), 0u);
  EXPECT_EQ(tokens.Within(canvas, 4, {}).size(), 1u) << "the character is not whole";
  EXPECT_EQ(tokens.Within(canvas, 6, {}).size(), 2u);
  EXPECT_EQ(tokens.Within(canvas, 6, {}).size(), 0u);
}

TEST(TextTokens, AnswersHaveThemIfAskedFor) {
  const Writer writer(Pieces());
  const Ask ask{.prompt = "He", .length = 6, .logprobs = 2};
  const Answer answer = writer.Write(ask, {.planner = "top-k:k=2", .seed = 3});
  std::string joined;
  ASSERT_EQ(std::ssize(answer.logprobs), answer.tokens);
  for (const TextToken& token : answer.logprobs) {
    joined += token.text;
    ASSERT_TRUE(token.row.has_value());
    EXPECT_EQ(token.row->token, token.token);
    EXPECT_EQ(token.row->top.size(), 2u);
    EXPECT_EQ(*token.row, answer.run.rows.at(token.row->position));
  }
  EXPECT_EQ(joined, answer.text);
  EXPECT_TRUE(writer.Write({.prompt = "He", .length = 6}).logprobs.empty());
  const std::vector<Ask> asks(2, ask);
  for (const Answer& one : writer.WriteBatch(asks, {.planner = "top-k:k=2", .seed = 3})) {
    EXPECT_EQ(one.run.rows, answer.run.rows);
  }
}

}  // namespace
}  // namespace punt
