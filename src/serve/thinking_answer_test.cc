// A chat with a model that thinks first: thoughts go into reasoning_content, whole and streamed, and the request says
// whether there are any.
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "denoise/row_model_testing.h"
#include "punt/writer.h"
#include "serve/api_error.h"
#include "serve/completion_json.h"

namespace punt {
namespace {

using Json = nlohmann::json;

constexpr Token kThink = 3;
constexpr Token kClose = 4;
constexpr Token kA = 5;
constexpr Token kB = 6;
constexpr Token kBreak = 7;
constexpr std::size_t kPrompt = 3;

/// Its template ends with an empty block when there is to be no thinking, and opens one when there is.
class ThinkingTokenizer : public testing::PieceTokenizer {
 public:
  ThinkingTokenizer() : PieceTokenizer({"<think>", "</think>", "a", "b", "\n"}) {}
  std::vector<Token> EncodeChatWith(std::span<const ChatMessage>, const ChatOptions& options) const override {
    if (!options.thinking) return {0, kA, kBreak};
    return *options.thinking ? std::vector<Token>{0, kA, kThink} : std::vector<Token>{0, kThink, kClose};
  }
  bool has_thinking_switch() const override { return true; }
};

/// Always answers with these tokens.
Model Answering(const std::vector<Token>& answer) {
  Model model = testing::MakeRowModel({"<think>", "</think>", "a", "b", "\n"}, 16,
                                      [answer](std::span<const Token>, Position position) {
                                        std::vector<double> row(8, -50.0);
                                        const std::size_t at = static_cast<std::size_t>(position) - kPrompt;
                                        row[static_cast<std::size_t>(at < answer.size() ? answer[at] : 1)] = 0;
                                        return row;
                                      });
  model.tokenizer = std::make_shared<ThinkingTokenizer>();
  model.has_chat_template = true;
  return model;
}

const std::vector<Token> kThoughtful = {kThink, kBreak, kA, kA, kClose, kBreak, kB, kB, 1};

struct Told {
  Json message;
  std::string streamed_content;
  std::string streamed_reasoning;
};

Told Tell(const Model& model, std::optional<bool> thinking, const std::string& regex = "") {
  Scheduler scheduler(*model.denoiser, {});
  Metrics metrics;
  CompletionRequest request{.chat = true,
                            .messages = {{"user", "a"}},
                            .thinking = thinking,
                            .max_tokens = 10,
                            .sampling = {.planner = "top-k:k=1", .temperature = 0, .regex = regex},
                            .stream = true};
  Completion completion(model, scheduler, metrics, request, "somebody");
  const AnswerHead head = NewAnswer(true, "m");
  Told told;
  while (!completion.is_done()) {
    const auto part = completion.Next(std::chrono::milliseconds(10));
    if (!part || part->is_end) continue;
    const Json delta = Json::parse(TextChunk(head, *part))["choices"][0]["delta"];
    told.streamed_content += delta.value("content", "");
    told.streamed_reasoning += delta.value("reasoning_content", "");
  }
  told.message = Json::parse(AnswerJson(head, completion, 1))["choices"][0]["message"];
  return told;
}

TEST(ThinkingAnswer, ThoughtsAreKeptApart) {
  const Told told = Tell(Answering(kThoughtful), std::nullopt);
  EXPECT_EQ(told.message, Json({{"role", "assistant"}, {"content", "bb"}, {"reasoning_content", "aa"}}));
  EXPECT_EQ(told.streamed_content, "bb");
  EXPECT_EQ(told.streamed_reasoning, "aa");
}

TEST(ThinkingAnswer, ATemplateMayOpenTheBlock) {
  const Told told = Tell(Answering({kBreak, kA, kClose, kBreak, kB, 1}), true);
  EXPECT_EQ(told.message["content"], "b");
  EXPECT_EQ(told.message["reasoning_content"], "a");
  EXPECT_EQ(told.streamed_content, "b");
  EXPECT_EQ(told.streamed_reasoning, "a");
}

TEST(ThinkingAnswer, AnAnswerThatIsHeldToALanguageIsNoThought) {
  const Told told = Tell(Answering({kA, kClose, kB, 1}), true, "a\\nb");
  EXPECT_EQ(told.message, Json({{"role", "assistant"}, {"content", "a\nb"}}));
  EXPECT_EQ(told.streamed_content, "a\nb");
}

TEST(ThinkingAnswer, WithoutThinkingThereAreNone) {
  const Told told = Tell(Answering({kA, kB, 1}), false);
  EXPECT_EQ(told.message, Json({{"role", "assistant"}, {"content", "ab"}}));
  EXPECT_EQ(told.streamed_content, "ab");
  EXPECT_EQ(told.streamed_reasoning, "");
}

TEST(ThinkingAnswer, APromptIsNoChat) {
  const Writer writer(Answering(kThoughtful));
  const Sampling sampling{.planner = "top-k:k=1", .temperature = 0};
  const Answer plain = writer.Write({.prompt = "ab", .length = 10}, sampling);
  EXPECT_EQ(plain.text, "<think>\naa</think>\nbb");
  EXPECT_EQ(plain.reasoning, "");
  std::string told;
  const Answer chat = writer.Write({.chat = {{"user", "a"}}, .length = 10}, sampling,
                                   {.on_text = [&](std::string_view more) { told += more; }});
  EXPECT_EQ(chat.text, "bb");
  EXPECT_EQ(told, "bb");
  EXPECT_EQ(chat.reasoning, "aa");
}

TEST(ThinkingRequest, ReadsTheTemplatesVariable) {
  const auto parse = [](const Json& kwargs) {
    const Json body = {{"messages", {{{"role", "user"}, {"content", "a"}}}}, {"chat_template_kwargs", kwargs}};
    return ParseCompletion(body.dump(), true, {}).thinking;
  };
  EXPECT_EQ(parse({{"enable_thinking", false}}), false);
  EXPECT_EQ(parse({{"enable_thinking", true}}), true);
  EXPECT_EQ(parse({{"enable_thinking", nullptr}}), std::nullopt);
  EXPECT_EQ(parse(Json::object()), std::nullopt);
  EXPECT_EQ(parse(nullptr), std::nullopt);
  const std::pair<Json, const char*> wrong[] = {{{{"enable_thinking", "no"}}, "enable_thinking"},
                                                {{{"tools", 1}}, "chat_template_kwargs.tools"},
                                                {3, "chat_template_kwargs"}};
  for (const auto& [kwargs, field] : wrong) {
    try {
      parse(kwargs);
      ADD_FAILURE() << kwargs;
    } catch (const ApiError& error) {
      EXPECT_EQ(error.param(), field);
    }
  }
}

}  // namespace
}  // namespace punt
