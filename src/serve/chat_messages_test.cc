// Messages as clients and agents send them.
#include "serve/chat_messages.h"

#include <gtest/gtest.h>

#include "serve/api_error.h"

namespace punt {
namespace {

std::vector<ChatMessage> Read(const std::string& list) {
  return ReadMessages(nlohmann::json::parse(R"({"messages": )" + list + "}"));
}

/// The field that is refused, and what is said of it.
std::string Refused(const std::string& list) {
  try {
    Read(list);
  } catch (const ApiError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with(error.param())) << error.what();
    return error.what();
  }
  return "";
}

TEST(ChatMessages, HistoriesOfAgentsGoOn) {
  const auto messages = Read(R"([
    {"role": "developer", "content": "be brief"},
    {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
    {"role": "assistant", "content": null, "tool_calls": [
      {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{\"at\": 1}"}},
      {"id": "2", "type": "function", "function": {"name": "wait", "arguments": ""}}]},
    {"role": "tool", "tool_call_id": "1", "content": "a tree"},
    {"role": "assistant", "content": "Well:", "function_call": {"name": "look", "arguments": "{}"}},
    {"role": "function", "name": "look", "content": [{"type": "text", "text": "a bird"}]},
    {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]},
    {"role": "assistant"}])");
  const std::vector<std::pair<std::string, std::string>> wanted = {
      {"system", "be brief"}, {"user", "ab"},     {"assistant", ""},   {"tool", "a tree"},
      {"assistant", "Well:"}, {"tool", "a bird"}, {"assistant", "no"}, {"assistant", ""}};
  ASSERT_EQ(messages.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(messages[i].role, wanted[i].first) << i;
    EXPECT_EQ(messages[i].content, wanted[i].second) << i;
  }
  EXPECT_EQ(messages[2].calls, (std::vector<ToolCall>{{"1", "look", "{\"at\": 1}"}, {"2", "wait", ""}}));
  EXPECT_EQ(messages[3].call_id, "1");
  EXPECT_EQ(messages[4].calls, (std::vector<ToolCall>{{"", "look", "{}"}}));
}

TEST(ChatMessages, WhatIsWrongIsNamed) {
  EXPECT_EQ(Refused("[]"), "messages must be a list of messages");
  EXPECT_EQ(Refused("[5]"), "messages[0] must be an object");
  EXPECT_EQ(Refused(R"([{"role": "king", "content": ""}])"),
            "messages[0].role must be system, developer, user, assistant, tool or function");
  EXPECT_EQ(Refused(R"([{"role": "user"}])"), "messages[0].content is missing");
  EXPECT_EQ(Refused(R"([{"role": "user", "content": null}])"), "messages[0].content is null");
  EXPECT_EQ(Refused(R"([{"role": "user", "content": 5}])"), "messages[0].content must be a string or a list of parts");
  EXPECT_EQ(Refused(R"([{"role": "user", "content": [{"type": "text", "text": ""}, {"type": "image_url"}]}])"),
            "messages[0].content[1] is of type 'image_url'; only text is understood");
  EXPECT_EQ(Refused(R"([{"role": "user", "content": [{"type": "text"}]}])"), "messages[0].content[0].text is missing");
  EXPECT_EQ(Refused(R"([{"role": "assistant", "tool_calls": [{"type": "function"}]}])"),
            "messages[0].tool_calls must hold calls of functions");
  EXPECT_EQ(Refused(R"([{"role": "assistant", "tool_calls": [{"id": "1", "function": {}}]}])"),
            "messages[0].tool_calls[0].function.name is missing");
  EXPECT_EQ(Refused(R"([{"role": "tool", "content": "a"}])"), "messages[0].tool_call_id is missing");
  EXPECT_EQ(Refused(R"([{"role": "tool", "content": "a", "tool_call_id": "7"},
                        {"role": "assistant", "tool_calls": [{"id": "7", "function": {"name": "f"}}]}])"),
            "messages[0].tool_call_id is '7', which no call before it has");
  EXPECT_LT(Refused(R"([{"role": "user", "content": [{"type": ")" + std::string(100'000, 'x') + R"("}]}])").size(),
            200u);
}

TEST(ChatMessages, APlainChatIsItsTexts) {
  EXPECT_EQ(PlainChat({{"user", "Once upon a time"}}), "Once upon a time");
  EXPECT_EQ(PlainChat({{"system", "A story."}, {"user", "Go on."}, {"assistant", "He did."}}),
            "A story.\nGo on.\nHe did.");
}

}  // namespace
}  // namespace punt
