// Prompts on canvases: what fits, what is cut, which sample a choice is.
#include "serve/prompt_canvas.h"

#include <gtest/gtest.h>

#include "serve/api_error.h"

namespace punt {
namespace {

constexpr int kLength = 12;

class PromptCanvasTest : public ::testing::Test {
 protected:
  std::vector<PromptCanvas> Build(const CompletionRequest& request) { return BuildCanvases(request, model_); }

  /// The field that is refused; "" when nothing is.
  std::string Refused(const CompletionRequest& request) {
    try {
      Build(request);
    } catch (const ApiError& error) {
      EXPECT_EQ(error.status(), 400);
      return error.param();
    }
    return "";
  }

  const Model model_ = OpenModel("toy:markov,length=12,vocab=4,seed=1,coupling=0.9");
};

/// Whatever is asked for: so much, or what the canvas or the server's limit leaves.
TEST_F(PromptCanvasTest, LengthsAreCutToWhatFits) {
  for (std::int64_t wanted : {std::int64_t{1}, std::int64_t{4}, std::int64_t{11}, std::int64_t{12}, std::int64_t{4096},
                              std::int64_t{INT64_MAX}}) {
    for (std::size_t given = 0; given < kLength; ++given) {
      for (std::int64_t limit : {std::int64_t{3}, std::int64_t{INT64_MAX}}) {
        const auto canvases =
            Build({.prompts = {{.text = std::string(given, 'a')}}, .max_tokens = wanted, .token_limit = limit});
        ASSERT_EQ(canvases.size(), 1u);
        const TextPlace& place = canvases[0].place;
        const auto length = static_cast<std::int64_t>(place.end - place.begin);
        EXPECT_EQ(length, std::min({wanted, limit, static_cast<std::int64_t>(kLength - given)}));
        EXPECT_EQ(canvases[0].given(), given);
        EXPECT_EQ(canvases[0].tokens.size(), given + static_cast<std::size_t>(length));
      }
    }
  }
  EXPECT_EQ(Build({.token_limit = 5})[0].place.end, 5u);  // the usual length is within the limit too
}

TEST_F(PromptCanvasTest, WhatLeavesNoRoomIsNamed) {
  const std::string full(kLength, 'a');
  EXPECT_EQ(Refused({.prompts = {{.text = full}}}), "prompt");
  EXPECT_EQ(Refused({.prompts = {{.text = full}}, .max_tokens = 1}), "prompt");
  EXPECT_EQ(Refused({.prompts = {{.text = "a"}, {.text = full}}}), "prompt[1]");
  EXPECT_EQ(Refused({.prompts = {{.text = "a"}}, .suffix = std::string(kLength - 1, 'b')}), "suffix");
  EXPECT_EQ(Refused({.prompts = {{.text = full}}, .suffix = "b"}), "prompt");
  EXPECT_EQ(Refused({.chat = true, .messages = {{"user", full}}, .chat_form = ChatForm::kPlain}), "messages");
  EXPECT_EQ(Refused({.chat = true, .messages = {{"user", "a"}}, .chat_form = ChatForm::kNone}), "messages");
  EXPECT_EQ(Refused({.chat = true, .messages = {{"user", "a"}}, .chat_form = ChatForm::kModel}), "messages");
  EXPECT_EQ(Refused({.chat = true, .messages = {{"user", "a"}}, .chat_form = ChatForm::kPlain}), "");
}

TEST_F(PromptCanvasTest, TokensAreTakenAsTheyAre) {
  const auto text = Build({.prompts = {{.text = "abca"}}, .max_tokens = 4});
  const auto tokens = Build({.prompts = {{.tokens = model_.tokenizer->Encode("abca")}}, .max_tokens = 4});
  EXPECT_EQ(text[0].tokens, tokens[0].tokens);
  const Token mask = model_.denoiser->info().mask_token;
  const Token size = model_.denoiser->info().vocab_size;
  EXPECT_EQ(Refused({.prompts = {{.tokens = {{0, size}}}}}), "prompt");
  EXPECT_EQ(Refused({.prompts = {{.tokens = {{0, mask}}}}}), "prompt");
  EXPECT_EQ(Refused({.prompts = {{.text = "a"}, {.tokens = {{1, mask}}}}}), "prompt[1]");
}

TEST_F(PromptCanvasTest, HolesStandWhereTheListSays) {
  const Token mask = model_.denoiser->info().mask_token;
  const auto canvas = Build({.infill = {{.text = "ab"}, {.masks = 3}, {.text = "c"}, {.masks = 1}, {.masks = 1}}})[0];
  std::vector<Token> expected = model_.tokenizer->Encode("ab");
  expected.insert(expected.end(), 3, mask);
  expected.push_back(model_.tokenizer->Encode("c")[0]);
  expected.insert(expected.end(), 2, mask);
  EXPECT_EQ(canvas.tokens, expected);
  EXPECT_EQ(canvas.masks, 5u);
  EXPECT_EQ(canvas.given(), 3u);
  EXPECT_EQ(canvas.place.begin, 0u);
  EXPECT_EQ(canvas.place.end, expected.size());
  EXPECT_EQ(Refused({.infill = {{.text = "ab"}, {.masks = kLength - 2}}}), "");
  EXPECT_EQ(Refused({.infill = {{.text = "ab"}, {.masks = kLength - 1}}}), "diffusion.infill");
  EXPECT_EQ(Refused({.infill = {{.masks = INT64_MAX}, {.masks = INT64_MAX}}}), "diffusion.infill");
  EXPECT_EQ(Refused({.token_limit = 3, .infill = {{.masks = 4}}}), "diffusion.infill");
  EXPECT_EQ(Refused({.infill = {{.text = "Z"}, {.masks = 1}}}), "diffusion.infill");
}

/// A row's label ends with a blank that is part of its token, whether a digit or a hole follows.
TEST_F(PromptCanvasTest, ABoardOfSudokuIsTheBoardThatTheModelKnows) {
  const Model sudoku = OpenModel(PUNT_SOURCE_DIR "/models/sudoku.gguf");
  std::vector<Stretch> parts;
  std::string full;
  for (int row = 0; row < 9; ++row) {
    const std::string label = std::string("\n") + static_cast<char>('A' + row) + " ";
    parts.insert(parts.end(), {{.text = label}, {.masks = 1}, {.text = "2345678"}, {.masks = 1}});
    full += label + "123456789";
  }
  const auto canvas = BuildCanvases({.infill = parts}, sudoku)[0];
  std::vector<Token> expected = sudoku.tokenizer->Prefix();
  for (Token token : sudoku.tokenizer->Encode(full)) {
    const std::string piece = sudoku.tokenizer->Piece(token);
    expected.push_back(piece == "1" || piece == "9" ? sudoku.denoiser->info().mask_token : token);
  }
  EXPECT_EQ(canvas.tokens, expected);
}

TEST_F(PromptCanvasTest, CopiesOfAPromptAreFurtherSamplesOfIt) {
  const auto canvases =
      Build({.prompts = {{.text = "a"}, {.text = "b"}, {.text = "a"}, {.tokens = {{0}}}, {.text = "b"}}, .choices = 2});
  std::vector<std::uint64_t> samples;
  for (const PromptCanvas& canvas : canvases) samples.push_back(canvas.first_sample);
  EXPECT_EQ(samples, (std::vector<std::uint64_t>{0, 0, 2, 4, 2}));
}

}  // namespace
}  // namespace punt
