// Log-probabilities over HTTP: what is asked, in which format it is told, and that a prompt's are those of the model.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "denoise/exact_model.h"
#include "denoise/row_model_testing.h"
#include "denoise/toy_truth_testing.h"
#include "serve/api_error.h"
#include "serve/completion.h"
#include "serve/completion_json.h"
#include "serve/logprob_json.h"

namespace punt {
namespace {

using Json = nlohmann::json;
using std::chrono_literals::operator""ms;

CompletionRequest Parse(const std::string& body, bool chat = false) { return ParseCompletion(body, chat, {}); }

/// The field that is refused; "accepted" if none is.
std::string Refused(const std::string& body, bool chat = false) {
  try {
    Parse(body, chat);
  } catch (const ApiError& error) {
    EXPECT_EQ(error.status(), 400);
    return error.param();
  }
  return "accepted";
}

TEST(LogprobFields, AreReadAsInOpenAisTwoFormats) {
  EXPECT_EQ(Parse(R"({"logprobs": 0})").likelihood.logprobs, 0);
  EXPECT_EQ(Parse(R"({"logprobs": 5.0})").likelihood.logprobs, 5);
  EXPECT_EQ(Parse(R"({"logprobs": null})").likelihood.logprobs, std::nullopt);
  EXPECT_EQ(Parse(R"({"logprobs": false, "top_logprobs": 0})").likelihood.logprobs, std::nullopt);
  const std::string chat = R"({"messages": [{"role": "user", "content": "a"}], )";
  EXPECT_EQ(Parse(chat + R"("logprobs": true})", true).likelihood.logprobs, 0);
  EXPECT_EQ(Parse(chat + R"("logprobs": true, "top_logprobs": 3})", true).likelihood.logprobs, 3);
  EXPECT_EQ(Parse(chat + R"("logprobs": false, "echo": false})", true).likelihood.logprobs, std::nullopt);
  EXPECT_EQ(Parse(R"({"echo": true, "max_tokens": 0})").max_tokens, 0);
  EXPECT_EQ(Parse(R"({"diffusion": {"score_alone": 7}})").likelihood.score_alone, 7);
  EXPECT_EQ(Parse("{}").likelihood.score_alone, 64);
}

TEST(LogprobFields, WhatCannotBeIsRefused) {
  EXPECT_EQ(Refused(R"({"logprobs": 21})"), "logprobs");
  EXPECT_EQ(Refused(R"({"logprobs": -1})"), "logprobs");
  EXPECT_EQ(Refused(R"({"logprobs": true})"), "logprobs") << "how many?";
  EXPECT_EQ(Refused(R"({"top_logprobs": 2})"), "top_logprobs");
  EXPECT_EQ(Refused(R"({"max_tokens": 0})"), "max_tokens") << "nothing would be answered";
  EXPECT_EQ(Refused(R"({"echo": true, "stream": true})"), "echo");
  EXPECT_EQ(Refused(R"({"echo": true, "suffix": "b"})"), "echo");
  EXPECT_EQ(Refused(R"({"echo": true, "diffusion": {"infill": ["a", 2]}})"), "echo");
  EXPECT_EQ(Refused(R"({"diffusion": {"score_alone": -1}})"), "diffusion.score_alone");
  EXPECT_EQ(Refused(R"({"prompt_logprobs": 1})"), "prompt_logprobs");
  const std::string chat = R"({"messages": [{"role": "user", "content": "a"}], )";
  EXPECT_EQ(Refused(chat + R"("logprobs": 3})", true), "logprobs");
  EXPECT_EQ(Refused(chat + R"("top_logprobs": 3})", true), "top_logprobs");
  EXPECT_EQ(Refused(chat + R"("echo": true})", true), "echo");
}

class LogprobAnswers : public ::testing::Test {
 protected:
  Json Answer(const CompletionRequest& request) {
    Completion completion(model_, scheduler_, metrics_, request, "somebody");
    while (!completion.is_done()) completion.Next(1ms);
    return Json::parse(AnswerJson(NewAnswer(request.chat, "toy"), completion, 1));
  }

  /// ln p of every token given those before it, by the model itself; `begin[i]` tokens are known for token i.
  std::vector<double> Chain(const std::vector<Token>& tokens, const std::vector<std::size_t>& known) const {
    const ExactModel& exact = dynamic_cast<const ExactDenoiser&>(*model_.denoiser).model();
    std::vector<double> chain;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      std::vector<Token> canvas(tokens.size(), 4);
      std::copy_n(tokens.begin(), known[i], canvas.begin());
      chain.push_back(std::log(ConditionalsOf(exact, canvas)[i * 4 + static_cast<std::size_t>(tokens[i])]));
    }
    return chain;
  }

  static void ExpectNear(const Json& numbers, const std::vector<double>& expected) {
    ASSERT_EQ(numbers.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(numbers[i].get<double>(), expected[i], 1e-9) << i;
  }

  const Model model_ = OpenModel("toy:markov,length=12,vocab=4,seed=1,coupling=0.9,permute=true");
  Scheduler scheduler_{*model_.denoiser, {}};
  Metrics metrics_;
};

TEST_F(LogprobAnswers, APromptIsScoredFromLeftToRight) {
  const Json answer = Answer(Parse(R"({"prompt": "abcadb", "echo": true, "logprobs": 1, "max_tokens": 0})"));
  const Json& choice = answer["choices"][0];
  EXPECT_EQ(choice["text"], "abcadb");
  EXPECT_EQ(choice["finish_reason"], "length");
  const Json& logprobs = choice["logprobs"];
  EXPECT_EQ(logprobs["tokens"], Json({"a", "b", "c", "a", "d", "b"}));
  EXPECT_EQ(logprobs["text_offset"], Json({0, 1, 2, 3, 4, 5}));
  ExpectNear(logprobs["token_logprobs"], Chain({0, 1, 2, 0, 3, 1}, {0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(answer["usage"]["nfe"], 6);
  EXPECT_EQ(answer["usage"]["completion_tokens"], 0);
  for (std::size_t i = 0; i < 6; ++i) {
    const Json& top = logprobs["top_logprobs"][i];
    EXPECT_TRUE(top.contains(logprobs["tokens"][i]));
    EXPECT_LE(top.size(), 2u);
    EXPECT_EQ(top[logprobs["tokens"][i].get<std::string>()], logprobs["token_logprobs"][i]);
  }
}

TEST_F(LogprobAnswers, OnlyTheLastTokensGetPassesOfTheirOwn) {
  const Json answer = Answer(
      Parse(R"({"prompt": "abcadb", "echo": true, "logprobs": 0, "max_tokens": 0, "diffusion": {"score_alone": 2}})"));
  // Stretches of 2, 2 and then each alone: 6 = (2) + 2 + 1 + 1.
  ExpectNear(answer["choices"][0]["logprobs"]["token_logprobs"], Chain({0, 1, 2, 0, 3, 1}, {0, 0, 2, 2, 4, 5}));
  EXPECT_EQ(answer["choices"][0]["logprobs"]["steps"], Json({0, 0, 1, 1, 2, 3}));
  EXPECT_EQ(answer["usage"]["nfe"], 4);
}

// What lm-evaluation-harness asks, and the slice that it sums: all but the one token that it had to ask for.
TEST_F(LogprobAnswers, TheGeneratedTokenComesBehindThePrompt) {
  const Json answer = Answer(Parse(
      R"({"prompt": [[0, 1, 2], [3, 3]], "echo": true, "logprobs": 1, "max_tokens": 1, "temperature": 0, "seed": 1})"));
  ASSERT_EQ(answer["choices"].size(), 2u);
  const Json& logprobs = answer["choices"][0]["logprobs"];
  ASSERT_EQ(logprobs["token_logprobs"].size(), 4u);
  EXPECT_EQ(answer["choices"][0]["text"].get<std::string>().substr(0, 3), "abc");
  EXPECT_EQ(logprobs["text_offset"], Json({0, 1, 2, 3}));
  Json scored = logprobs["token_logprobs"];
  scored.erase(3);
  ExpectNear(scored, Chain({0, 1, 2}, {0, 1, 2}));
  EXPECT_EQ(logprobs["token_logprobs"][3], logprobs["top_logprobs"][3].front()) << "temperature 0";
  EXPECT_EQ(answer["choices"][1]["logprobs"]["token_logprobs"].size(), 3u);
}

TEST_F(LogprobAnswers, ChoicesShareTheScoresOfTheirPrompt) {
  const Json answer = Answer(Parse(R"({"prompt": "abc", "echo": true, "logprobs": 0, "max_tokens": 2, "n": 2,
                                       "seed": 1, "diffusion": {"planner": "left-to-right"}})"));
  EXPECT_EQ(answer["usage"]["nfe"], 3 + 2 * 2);
  for (const Json& choice : answer["choices"]) {
    ASSERT_EQ(choice["logprobs"]["token_logprobs"].size(), 5u);
    EXPECT_EQ(choice["logprobs"]["token_logprobs"][1], answer["choices"][0]["logprobs"]["token_logprobs"][1]);
  }
}

TEST_F(LogprobAnswers, EchoAloneCostsNothing) {
  const Json answer = Answer(Parse(R"({"prompt": "abc", "echo": true, "max_tokens": 0})"));
  EXPECT_EQ(answer["choices"][0]["text"], "abc");
  EXPECT_EQ(answer["choices"][0]["logprobs"], nullptr);
  EXPECT_EQ(answer["usage"]["nfe"], 0);
  EXPECT_EQ(Answer(Parse(R"({"prompt": "abcabcabcabc", "echo": true, "max_tokens": 0})"))["choices"][0]["text"],
            "abcabcabcabc")
      << "a prompt may fill the canvas when nothing is generated";
}

TEST_F(LogprobAnswers, MorePassesThanAllowedAreRefused) {
  CompletionRequest request = Parse(R"({"prompt": "abcadb", "echo": true, "logprobs": 0, "max_tokens": 0})");
  request.sampling.max_nfe = 5;
  try {
    Answer(request);
    FAIL() << "accepted";
  } catch (const ApiError& error) {
    EXPECT_EQ(error.param(), "prompt");
    EXPECT_NE(std::string(error.what()).find("takes 6 passes to score, 5 are the limit"), std::string::npos);
  }
}

TEST_F(LogprobAnswers, ATextsAreThoseOfTheRun) {
  const std::string fields = R"("seed": 3, "max_tokens": 8, "diffusion": {"planner": "top-k:k=3"}})";
  const Json text = Answer(Parse(R"({"prompt": "ab", "logprobs": 4, )" + fields))["choices"][0];
  const Json& logprobs = text["logprobs"];
  ASSERT_EQ(logprobs["tokens"].size(), 8u);
  for (std::size_t i = 0; i < 8; ++i) {
    double sum = 0, entropy = 0;
    for (const auto& [token, log_prob] : logprobs["top_logprobs"][i].items()) {
      sum += std::exp(log_prob.get<double>());
      entropy -= std::exp(log_prob.get<double>()) * log_prob.get<double>();
    }
    EXPECT_NEAR(sum, 1, 1e-9);
    EXPECT_NEAR(logprobs["entropies"][i].get<double>(), entropy, 1e-9);
    EXPECT_LT(logprobs["steps"][i], 3);
  }

  CompletionRequest chat = Parse(R"({"messages": [{"role": "user", "content": "ab"}], "logprobs": true,
                                     "top_logprobs": 2, )" +
                                     fields,
                                 true);
  chat.chat_form = ChatForm::kPlain;
  const Json content = Answer(chat)["choices"][0]["logprobs"]["content"];
  ASSERT_EQ(content.size(), 8u);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(content[i]["token"], logprobs["tokens"][i]);
    EXPECT_EQ(content[i]["logprob"], logprobs["token_logprobs"][i]);
    EXPECT_EQ(content[i]["bytes"], Json({content[i]["token"].get<std::string>()[0]}));
    EXPECT_EQ(content[i]["top_logprobs"].size(), 2u);
    EXPECT_GE(content[i]["top_logprobs"][0]["logprob"], content[i]["top_logprobs"][1]["logprob"]);
    EXPECT_EQ(content[i]["step"], logprobs["steps"][i]);
  }
}

// Chunks joined are the whole, whatever the order in which tokens settled.
TEST_F(LogprobAnswers, StreamsTellEveryTokenOnce) {
  for (const char* planner : {"left-to-right", "top-k:k=3", "scout", "remdm"}) {
    SCOPED_TRACE(planner);
    CompletionRequest request = Parse(R"({"prompt": "ab", "logprobs": 2, "seed": 3, "max_tokens": 8, "stop": "dd"})");
    request.sampling.planner = planner;
    const Json whole = Answer(request)["choices"][0];
    request.stream = true;
    Completion completion(model_, scheduler_, metrics_, request, "somebody");
    Json joined = {{"tokens", Json::array()}, {"token_logprobs", Json::array()}, {"text_offset", Json::array()}};
    std::string text;
    int chunks = 0;
    while (!completion.is_done()) {
      const auto part = completion.Next(1ms);
      if (!part || part->is_end) continue;
      const Json chunk = Json::parse(TextChunk(NewAnswer(false, "toy"), *part))["choices"][0];
      text += chunk["text"].get<std::string>();
      if (chunk["logprobs"].is_null()) continue;
      ++chunks;
      for (auto& [key, list] : joined.items())
        list.insert(list.end(), chunk["logprobs"][key].begin(), chunk["logprobs"][key].end());
    }
    EXPECT_EQ(text, whole["text"]);
    for (const auto& [key, list] : joined.items()) EXPECT_EQ(list, whole["logprobs"][key]) << key;
    EXPECT_GE(chunks, planner == std::string("left-to-right") ? 2 : 1);
  }
}

// A text's tokens are those of the text; a list is told as it was sent.
TEST(EchoedPrompts, WhatIsPutBeforeATextIsNotListed) {
  const Model model = testing::MakeRowModel({"a", "b"}, 8, [](std::span<const Token> canvas, Position) {
    return std::vector<double>{-INFINITY, 0, -INFINITY, canvas[0] == 0 ? 2.0 : 1.0, 0};
  });
  Scheduler scheduler(*model.denoiser, {});
  Metrics metrics;
  const auto logprobs = [&](const std::string& prompt) {
    Completion completion(model, scheduler, metrics,
                          Parse(R"({"echo": true, "logprobs": 0, "max_tokens": 0, "prompt": )" + prompt + "}"),
                          "somebody");
    while (!completion.is_done()) completion.Next(1ms);
    return Json::parse(AnswerJson(NewAnswer(false, "rows"), completion, 1))["choices"][0]["logprobs"]["token_logprobs"];
  };
  const double with = 2 - std::log(std::exp(2) + 2), without = 1 - std::log(std::exp(1) + 2);
  const Json text = logprobs(R"("aa")"), listed = logprobs("[0, 3, 3]"), bare = logprobs("[3, 3]");
  ASSERT_EQ(text.size(), 2u);
  EXPECT_NEAR(text[1].get<double>(), with, 1e-9);
  ASSERT_EQ(listed.size(), 3u);
  EXPECT_TRUE(listed[0].is_null());
  EXPECT_NEAR(listed[2].get<double>(), with, 1e-9);
  ASSERT_EQ(bare.size(), 2u);
  EXPECT_NEAR(bare[1].get<double>(), without, 1e-9) << "tokens are used as they are";
}

TEST(LogprobJson, DifferentBytesHaveDifferentNames) {
  const Model model = OpenModel("toy:markov,length=4,vocab=3");
  const std::vector<TextToken> tokens = {{.text = "\xe2\x96", .row = CommitRow{.log_prob = -INFINITY}},
                                         {.text = "\x91", .offset = 1}};
  const Json json = LogprobsJson(tokens, false, *model.tokenizer);
  EXPECT_EQ(json["tokens"], Json({"bytes:\\xe2\\x96", "bytes:\\x91"}));
  EXPECT_EQ(json["token_logprobs"], Json({-9999.0, nullptr}));
}

}  // namespace
}  // namespace punt
