// Completions: what the model cannot do is told before anything is sent.
#include "serve/completion.h"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

#include "punt/model.h"
#include "serve/api_error.h"
#include "serve/completion_json.h"

namespace punt {
namespace {

using std::chrono_literals::operator""ms;

/// Of a loop that waits: after a minute the test fails instead of hanging.
class Patience {
 public:
  void Check() const {
    if (std::chrono::steady_clock::now() > end_) throw std::runtime_error("waited for a minute");
  }

 private:
  const std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + std::chrono::minutes(1);
};

class CompletionTest : public ::testing::Test {
 protected:
  /// The field that is refused; "" when nothing is.
  std::string Refused(const CompletionRequest& request) {
    try {
      Completion completion(model_, scheduler_, metrics_, request, "somebody");
    } catch (const ApiError& error) {
      EXPECT_EQ(error.status(), 400);
      return error.param();
    }
    return "";
  }

  /// All choices' texts, once done.
  std::vector<std::string> Texts(const CompletionRequest& request) {
    Completion completion(model_, scheduler_, metrics_, request, "somebody");
    Await(completion);
    std::vector<std::string> texts;
    for (const auto& result : completion.results()) texts.push_back(result->text.text);
    return texts;
  }

  static void Await(Completion& completion) {
    for (const Patience patience; !completion.is_done(); completion.Next(1ms)) patience.Check();
  }

  const Model model_ = OpenModel("toy:markov,length=12,vocab=4,seed=1,coupling=0.9");
  Scheduler scheduler_{*model_.denoiser, {}};
  Metrics metrics_;
};

TEST_F(CompletionTest, WhatDoesNotFitIsRefusedAtOnce) {
  for (bool stream : {false, true}) {
    EXPECT_EQ(Refused({.max_tokens = 12, .stream = stream}), "");
    EXPECT_EQ(Refused({.prompts = {{.text = "abcabcabcabca"}}, .stream = stream}), "prompt");
    EXPECT_EQ(Refused({.max_tokens = 4, .sampling = {.window = 5}, .stream = stream}), "diffusion.window");
    EXPECT_EQ(Refused({.sampling = {.planner = "dawn"}, .stream = stream}), "diffusion.planner");
  }
  EXPECT_EQ(scheduler_.waiting() + scheduler_.running(), 0);  // nobody took a place in the queue
}

TEST_F(CompletionTest, APromptInAListGivesWhatItGivesAlone) {
  const std::vector<Prompt> prompts = {{.text = "a"}, {.text = "ab"}, {.tokens = {{1, 2}}}, {.text = ""}};
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    CompletionRequest request{.prompts = prompts, .seed = RequestSeed{seed}, .choices = 2};
    const std::vector<std::string> together = Texts(request);
    std::vector<std::string> alone;
    for (const Prompt& prompt : prompts) {
      request.prompts = {prompt};
      for (const std::string& text : Texts(request)) alone.push_back(text);
    }
    EXPECT_EQ(together, alone);
    request = {.prompts = {prompts[0], prompts[0], prompts[0]}, .seed = RequestSeed{seed}};
    const std::vector<std::string> copies = Texts(request);
    request = {.prompts = {prompts[0]}, .seed = RequestSeed{seed}, .choices = 3};
    EXPECT_EQ(copies, Texts(request));
  }
}

TEST_F(CompletionTest, UsageIsThatOfAllPrompts) {
  const auto usage = [&](const CompletionRequest& request) {
    Completion completion(model_, scheduler_, metrics_, request, "somebody");
    Await(completion);
    return completion.usage();
  };
  const CompletionRequest one{
      .prompts = {{.text = "abc"}}, .sampling = {.planner = "top-k:k=2"}, .seed = RequestSeed{1}};
  CompletionRequest two = one;
  two.prompts = {{.text = "abc"}, {.text = "b"}};
  two.choices = 2;
  CompletionRequest other = one;
  other.prompts = {{.text = "b"}};
  EXPECT_EQ(usage(two).prompt_tokens, 4);
  EXPECT_EQ(usage(two).completion_tokens, 2 * (9 + 11));
  EXPECT_EQ(usage(two).nfe(), 2 * (usage(one).nfe() + usage(other).nfe()));
}

/// As a client in JavaScript does it, whose numbers are floats.
TEST_F(CompletionTest, TheSeedThatAnAnswerTellsGivesItAgain) {
  for (int i = 0; i < 50; ++i) {
    const CompletionRequest drawn{.prompts = {{.text = "a"}}};
    Completion completion(model_, scheduler_, metrics_, drawn, "somebody");
    Await(completion);
    const auto answer = nlohmann::json::parse(AnswerJson(NewAnswer(false, "m"), completion, 1));
    const auto seed = static_cast<std::uint64_t>(answer["usage"]["seed"].get<double>());
    const nlohmann::json again = {{"prompt", "a"}, {"seed", seed}};
    EXPECT_EQ(Texts(ParseCompletion(again.dump(), false, {})),
              std::vector<std::string>{answer["choices"][0]["text"].get<std::string>()});
  }
  for (const char* given : {"-5", "7", "18446744073709551615"}) {
    const std::string body = std::string(R"({"prompt": "a", "seed": )") + given + "}";
    Completion completion(model_, scheduler_, metrics_, ParseCompletion(body, false, {}), "somebody");
    Await(completion);
    EXPECT_NE(AnswerJson(NewAnswer(false, "m"), completion, 1).find(std::string("\"seed\":") + given + "}"),
              std::string::npos);
  }
}

TEST_F(CompletionTest, APlainChatGoesOnFromItsTexts) {
  CompletionRequest chat{.chat = true,
                         .messages = {{"system", "a"}},
                         .chat_form = ChatForm::kPlain,
                         .max_tokens = 5,
                         .seed = RequestSeed{3}};
  EXPECT_EQ(Texts(chat), Texts({.prompts = {{.text = "a"}}, .max_tokens = 5, .seed = RequestSeed{3}}));
  chat.chat_form = ChatForm::kModel;  // of which there is none
  EXPECT_EQ(Refused(chat), "messages");
}

TEST_F(CompletionTest, TextsAreRefusedByTheirSizeBeforeTheyAreTokenized) {
  const std::string much(12 * 400 + 1, '!');  // '!' would be refused by the tokenizer
  EXPECT_EQ(Refused({.prompts = {{.text = much}}}), "prompt");
  EXPECT_EQ(Refused({.suffix = much}), "suffix");
  try {
    Completion completion(model_, scheduler_, metrics_, {.prompts = {{.text = much}}}, "somebody");
    ADD_FAILURE() << "accepted";
  } catch (const ApiError& error) {
    EXPECT_NE(std::string(error.what()).find("more than the 12 tokens"), std::string::npos) << error.what();
  }
}

/// Nobody takes the parts: they end before they fill the memory, and the generation with them.
TEST(Completion, WhatWaitsIsBounded) {
  const Model model = OpenModel("toy:markov,length=400,vocab=4,seed=1,coupling=0.9");
  Scheduler scheduler(*model.denoiser, {});
  Metrics metrics;
  const CompletionRequest request{
      .sampling = {.planner = "top-k:k=1"}, .choices = 16, .stream = true, .stream_kind = StreamKind::kEvents};
  Completion completion(model, scheduler, metrics, request, "somebody");
  const Patience patience;
  while (scheduler.waiting() + scheduler.running() > 0) {
    patience.Check();
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_TRUE(completion.is_overfull());
  EXPECT_EQ(metrics.cancelled, 16);
  std::size_t bytes = 0;
  while (!completion.is_done()) {
    patience.Check();
    if (const auto part = completion.Next(1ms)) bytes += part->event.size();
  }
  EXPECT_LT(bytes, std::size_t{9} << 20);
  EXPECT_FALSE(completion.is_overfull());
}

}  // namespace
}  // namespace punt
