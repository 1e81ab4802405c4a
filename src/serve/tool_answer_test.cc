// Answers with calls of tools: whole and streamed, chosen by the model and demanded of it.
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "denoise/row_model_testing.h"
#include "serve/answer_stream.h"
#include "serve/api_error.h"

namespace punt {
namespace {

using Json = nlohmann::json;

const std::vector<std::string> kPieces = {"<tool_call>\n",
                                          "{\"name\": \"look\", \"arguments\": ",
                                          "{\"at\": ",
                                          "1",
                                          "}",
                                          "\n</tool_call>",
                                          "Well",
                                          " ",
                                          "\n",
                                          "{\"name\": \"look\", \"parameters\": ",
                                          "\"at\": "};
enum Word : Token { kOpen = 3, kName, kAt, kOne, kBrace, kClose, kWell, kSpace, kBreak };
constexpr std::size_t kPrompt = 2;

/// Keeps what its template was given.
class ToolTokenizer : public testing::PieceTokenizer {
 public:
  ToolTokenizer() : PieceTokenizer(kPieces) {}
  std::vector<Token> EncodeChatWith(std::span<const ChatMessage> messages, const ChatOptions& options) const override {
    told_ = {messages.begin(), messages.end()};
    tools_ = options.tools;
    return {0, kWell};
  }
  ToolForm tool_form() const override { return ToolForm::kTagged; }

  mutable std::vector<ChatMessage> told_;
  mutable std::vector<std::string> tools_;
};

/// Wants to answer with these tokens.
Model Answering(const std::vector<Token>& answer) {
  Model model = testing::MakeRowModel(kPieces, 24, [answer](std::span<const Token>, Position position) {
    std::vector<double> row(kPieces.size() + 3, -50.0);
    const std::size_t at = static_cast<std::size_t>(position) - kPrompt;
    row[static_cast<std::size_t>(at < answer.size() ? answer[at] : 1)] = 0;
    return row;
  });
  model.tokenizer = std::make_shared<ToolTokenizer>();
  model.has_chat_template = true;
  return model;
}

const std::vector<Token> kCalls = {kWell,  kBreak, kOpen, kName, kAt,  kOne,   kBrace, kBrace, kClose,
                                   kBreak, kOpen,  kName, kAt,   kOne, kBrace, kBrace, kClose, 1};

CompletionRequest Request(ToolChoice choice, ToolForm form = ToolForm::kTagged) {
  const std::string schema =
      R"({"type": "object", "properties": {"at": {"type": "integer", "maximum": 9}}, "required": ["at"]})";
  return {.chat = true,
          .messages = {{"user", "a"}},
          .tools = {.tools = {{.name = "look", .parameters = schema, .text = R"({"function": {"name": "look"}})"}},
                    .choice = choice,
                    .is_single = true,
                    .form = form},
          .max_tokens = 20,
          .sampling = {.planner = "top-k:k=1", .temperature = 0}};
}

struct Told {
  Json choice;          // whole
  std::string content;  // streamed
  std::vector<Json> calls;
  std::string finish_reason;
};

Told Tell(const Model& model, CompletionRequest request) {
  using Clock = std::chrono::steady_clock;
  Scheduler scheduler(*model.denoiser, {});
  Metrics metrics;
  const std::atomic<bool> must_end = false;
  const auto answer = [&] {
    return AnswerStream(
        std::make_unique<Completion>(model, scheduler, metrics, request, "somebody"), NewAnswer(true, "m"), request,
        metrics, {.start = Clock::now(), .deadline = Clock::now() + std::chrono::minutes(1), .must_end = &must_end});
  };
  Told told;
  AnswerStream whole = answer();
  whole.Finish([] { return false; });
  told.choice = Json::parse(whole.Whole())["choices"][0];
  request.stream = true;
  AnswerStream stream = answer();
  std::string bytes;
  while (!stream.is_done()) bytes += stream.Next([] { return false; });
  for (std::size_t at = 0; (at = bytes.find("data: {", at)) != std::string::npos;) {
    const std::size_t end = bytes.find("\n\n", at);
    const Json chunk = Json::parse(bytes.substr(at + 6, end - at - 6));
    at = end;
    if (chunk.contains("error")) throw std::runtime_error(chunk.dump());
    const Json& choice = chunk["choices"][0];
    const Json& delta = choice["delta"];
    const std::string content = delta.value("content", "");
    told.content = request.stream_kind == StreamKind::kSnapshots && !content.empty() ? content : told.content + content;
    for (const Json& call : delta.value("tool_calls", Json::array())) told.calls.push_back(call);
    if (choice["finish_reason"].is_string()) told.finish_reason = choice["finish_reason"];
  }
  return told;
}

/// Without the id, which must be there.
Json Call(Json call) {
  EXPECT_TRUE(call["id"].get<std::string>().starts_with("call_"));
  EXPECT_EQ(call["type"], "function");
  return call["function"];
}

const Json kLook = {{"name", "look"}, {"arguments", "{\"at\": 1}"}};

TEST(ToolAnswer, CallsAreNoContent) {
  for (const StreamKind kind : {StreamKind::kSettled, StreamKind::kSnapshots}) {
    CompletionRequest request = Request(ToolChoice::kAuto);
    request.stream_kind = kind;
    const Told told = Tell(Answering(kCalls), request);
    EXPECT_EQ(told.choice["finish_reason"], "tool_calls");
    EXPECT_EQ(told.choice["message"]["content"], "Well");
    ASSERT_EQ(told.choice["message"]["tool_calls"].size(), 2u);
    EXPECT_EQ(Call(told.choice["message"]["tool_calls"][1]), kLook);
    EXPECT_EQ(told.content, "Well");
    ASSERT_EQ(told.calls.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(told.calls[i]["index"], i);
      EXPECT_EQ(Call(told.calls[i]), kLook);
    }
    EXPECT_NE(told.calls[0]["id"], told.calls[1]["id"]);
    EXPECT_EQ(told.finish_reason, "tool_calls");
  }
}

TEST(ToolAnswer, WithoutToolsTheTextIsTheAnswer) {
  const Told told = Tell(Answering(kCalls), Request(ToolChoice::kNone));
  EXPECT_EQ(told.choice["finish_reason"], "stop");
  EXPECT_TRUE(told.choice["message"]["content"].get<std::string>().ends_with("</tool_call>"));
  EXPECT_EQ(told.content, told.choice["message"]["content"]);
  EXPECT_FALSE(told.choice["message"].contains("tool_calls"));
  const Told plain = Tell(Answering({kWell, 1}), Request(ToolChoice::kAuto));
  EXPECT_EQ(plain.choice["message"], Json({{"role", "assistant"}, {"content", "Well"}}));
  EXPECT_EQ(plain.finish_reason, "stop");
}

TEST(ToolAnswer, ARequiredCallIsMadeWhateverTheModelWants) {
  for (const ToolForm form : {ToolForm::kTagged, ToolForm::kNone, ToolForm::kBare}) {
    const Told told = Tell(Answering({kWell, kWell, kWell}), Request(ToolChoice::kRequired, form));
    EXPECT_EQ(told.finish_reason, "tool_calls");
    EXPECT_EQ(told.choice["message"]["content"], nullptr);
    ASSERT_EQ(told.calls.size(), 1u);
    const Json arguments = Json::parse(Call(told.calls[0])["arguments"].get<std::string>());
    EXPECT_TRUE(arguments.size() == 1 && arguments["at"].is_number_integer()) << arguments;
  }
}

TEST(ToolAnswer, ACallThatDoesNotFitIsRefused) {
  CompletionRequest request = Request(ToolChoice::kRequired);
  request.max_tokens = 5;
  try {
    Tell(Answering(kCalls), request);
    ADD_FAILURE();
  } catch (const ApiError& error) {
    EXPECT_EQ(error.param(), "tools");
    EXPECT_STREQ(error.what(), "a call of the tools does not fit 5 positions: its shortest text takes 7");
  }
}

TEST(ToolAnswer, TemplatesGetToolsIfTheyKnowThem) {
  for (const ToolForm form : {ToolForm::kTagged, ToolForm::kNone}) {
    const Model model = Answering(kCalls);
    CompletionRequest request = Request(ToolChoice::kAuto, form);
    request.messages = {{"user", "a"},
                        {.role = "assistant", .content = "", .calls = {{"1", "look", "{}"}}},
                        {.role = "tool", .content = "b", .call_id = "1"}};
    Tell(model, request);
    const auto& tokenizer = dynamic_cast<const ToolTokenizer&>(*model.tokenizer);
    const bool is_known = form == ToolForm::kTagged;
    EXPECT_EQ(tokenizer.tools_.size(), is_known ? 1u : 0u);
    EXPECT_EQ(tokenizer.told_.front().role, is_known ? "user" : "system");
    EXPECT_EQ(tokenizer.told_.back().role, is_known ? "tool" : "user");
  }
}

}  // namespace
}  // namespace punt
