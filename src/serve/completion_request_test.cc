// What requests may hold, and how a wrong one is told.
#include "serve/completion_request.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "serve/api_error.h"

namespace punt {
namespace {

CompletionRequest Parse(const std::string& body, bool chat = false) {
  return ParseCompletion(body, chat, {.max_tokens = 100, .max_choices = 4});
}

/// The field that is refused; "?" without one, "" when nothing is.
std::string Refused(const std::string& body, bool chat = false) {
  try {
    Parse(body, chat);
  } catch (const ApiError& error) {
    EXPECT_EQ(error.status(), 400);
    const auto json = nlohmann::json::parse(error.Json());
    EXPECT_EQ(json["error"]["message"], error.what());
    EXPECT_EQ(json["error"]["type"], "invalid_request_error");
    return error.param().empty() ? "?" : error.param();
  }
  return "";
}

TEST(CompletionRequest, TakesWhatOpenAisClientsSend) {
  const CompletionRequest request = Parse(R"({"model": "any", "prompt": "one", "suffix": "two", "max_tokens": 7,
    "temperature": 0.5, "top_p": 0.9, "stop": "x", "seed": -1, "n": 3, "stream": true, "user": "somebody",
    "stream_options": {"include_usage": true}, "presence_penalty": 0, "logprobs": null, "tools": []})");
  EXPECT_EQ(request.prompt, "one");
  EXPECT_EQ(request.suffix, "two");
  EXPECT_EQ(request.max_tokens, 7);
  EXPECT_EQ(request.proposal.temperature, 0.5);
  EXPECT_EQ(request.proposal.top_p, 0.9);
  EXPECT_EQ(request.stop, std::vector<std::string>{"x"});
  EXPECT_EQ(request.seed, ~std::uint64_t{0});
  EXPECT_EQ(request.choices, 3);
  EXPECT_TRUE(request.stream && request.include_usage);
  EXPECT_EQ(request.stream_kind, StreamKind::kSettled);
  EXPECT_EQ(Parse(R"({"prompt": ["one"], "max_tokens": 5, "max_completion_tokens": 6})").max_tokens, 6);
}

TEST(CompletionRequest, DefaultsAreOpenAis) {
  const CompletionRequest request = Parse("{}");
  EXPECT_EQ(request.proposal.temperature, 1);
  EXPECT_EQ(request.proposal.top_p, 1);
  EXPECT_EQ(request.choices, 1);
  EXPECT_FALSE(request.stream || request.seed || request.max_tokens || request.suffix);
  EXPECT_EQ(request.planner, "punt");
}

TEST(CompletionRequest, MessagesMayHaveParts) {
  const CompletionRequest request = Parse(R"({"messages": [{"role": "developer", "content": "be"},
    {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]})",
                                          true);
  ASSERT_EQ(request.messages.size(), 2u);
  EXPECT_EQ(request.messages[0].role, "system");
  EXPECT_EQ(request.messages[1].content, "ab");
}

TEST(CompletionRequest, TheSettingsOfDiffusion) {
  const CompletionRequest request = Parse(R"({"diffusion": {"planner": "top-k:k=2", "score": "margin", "window": 8,
    "cache": "settled", "eos": "forbid", "top_k": 5, "max_nfe": 9, "stream": "events"}})");
  EXPECT_EQ(request.planner, "top-k:k=2");
  EXPECT_EQ(request.window, 8);
  EXPECT_EQ(request.proposal.top_k, 5);
  EXPECT_EQ(request.max_nfe, 9);
  EXPECT_EQ(request.stream_kind, StreamKind::kEvents);
  const CompletionRequest mercury = Parse(R"({"diffusing": true})");
  EXPECT_TRUE(mercury.stream);
  EXPECT_EQ(mercury.stream_kind, StreamKind::kSnapshots);
}

/// One that is parsed without trouble may be too deep to be copied, by recursion, on the stack of a thread.
TEST(CompletionRequest, DepthIsLimited) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  for (std::size_t depth : {std::size_t{65}, std::size_t{400'000}}) {
    EXPECT_EQ(Refused(R"({"stop": )" + nested(depth) + "}"), "?");
    EXPECT_EQ(Refused(R"({"response_format": {"type": )" + nested(depth) + "}}"), "?");
    EXPECT_EQ(Refused(R"({"messages": [{"role": "user", "content": [{"type": )" + nested(depth) + "}]}]}", true), "?");
  }
  EXPECT_EQ(Refused(R"({"stop": )" + nested(63) + "}"), "stop");
  EXPECT_EQ(Refused(R"({"metadata": )" + nested(63) + "}"), "");
}

TEST(CompletionRequest, NamesTheFieldThatIsWrong) {
  EXPECT_EQ(Refused("{"), "?");
  EXPECT_EQ(Refused("[]"), "?");
  EXPECT_EQ(Refused("\"\xff\""), "?");
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"prompt": 5})", "prompt"},
      {R"({"prompt": ["a", "b"]})", "prompt"},
      {R"({"suffix": 5})", "suffix"},
      {R"({"max_tokens": 0})", "max_tokens"},
      {R"({"max_tokens": 101})", "max_tokens"},
      {R"({"max_tokens": 1.5})", "max_tokens"},
      {R"({"max_tokens": 18446744073709551615})", "max_tokens"},
      {R"({"max_tokens": "7"})", "max_tokens"},
      {R"({"temperature": -1})", "temperature"},
      {R"({"temperature": 1e300})", "temperature"},
      {R"({"top_p": 1.1})", "top_p"},
      {R"({"stop": [""]})", "stop"},
      {R"({"stop": 5})", "stop"},
      {R"({"stop": ["1","2","3","4","5","6","7","8","9","10","11","12","13","14","15","16","17"]})", "stop"},
      {R"({"n": 5})", "n"},
      {R"({"stream": 1})", "stream"},
      {R"({"stream_options": true})", "stream_options"},
      {R"({"tools": [{}]})", "tools"},
      {R"({"logprobs": 3})", "logprobs"},
      {R"({"response_format": {"type": "json_object"}})", "response_format"},
      {R"({"diffusion": []})", "diffusion"},
      {R"({"diffusion": {"epsilon": 1}})", "diffusion.epsilon"},
      {R"({"diffusion": {"planner": "nobody"}})", "diffusion.planner"},
      {R"({"diffusion": {"planner": "punt:epsilon=-1"}})", "diffusion.planner"},
      {R"({"diffusion": {"score": "nobody"}})", "diffusion.score"},
      {R"({"diffusion": {"cache": "nobody"}})", "diffusion.cache"},
      {R"({"diffusion": {"eos": "nobody"}})", "diffusion.eos"},
      {R"({"diffusion": {"stream": "nobody"}})", "diffusion.stream"},
      {R"({"diffusion": {"window": -1}})", "diffusion.window"},
  };
  for (const auto& [body, field] : wrong) EXPECT_EQ(Refused(body), field) << body;
  EXPECT_EQ(Refused("{}", true), "messages");
  EXPECT_EQ(Refused(R"({"messages": [5]})", true), "messages[0]");
  EXPECT_EQ(Refused(R"({"messages": [{"role": "king", "content": ""}]})", true), "messages[0].role");
  EXPECT_EQ(Refused(R"({"messages": [{"role": "user"}]})", true), "messages[0].content");
  EXPECT_EQ(Refused(R"({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]})", true),
            "messages[0].content");
}

}  // namespace
}  // namespace punt
