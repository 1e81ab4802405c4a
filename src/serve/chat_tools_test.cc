// What a chat says of tools: which requests are understood, which are refused and how, and the language of calls.
#include "serve/chat_tools.h"

#include <gtest/gtest.h>

#include "punt/error.h"
#include "serve/api_error.h"
#include "serve/tool_language.h"
#include "serve/tool_texts.h"

namespace punt {
namespace {

ToolRequest Read(const std::string& body) { return ReadTools(body, nlohmann::json::parse(body)); }

std::string Refused(const std::string& body) {
  try {
    Read(body);
  } catch (const ApiError& error) {
    EXPECT_EQ(error.status(), 400);
    EXPECT_TRUE(std::string(error.what()).starts_with(error.param())) << error.what();
    return error.what();
  }
  return "";
}

std::string Tool(const std::string& function) { return R"({"type": "function", "function": )" + function + "}"; }

const std::string kLook =
    Tool(R"({"name": "look", "parameters": {"type": "object", "properties": {"z": {"type": "integer", "minimum": 1,
         "maximum": 3}, "a": {"$ref": "#/$defs/A"}}, "required": ["z", "a"], "$defs": {"A": {"enum": ["x", null]}}}})");
const std::string kBoth = R"("tools": [)" + kLook + ", " + Tool(R"({"name": "wait"})") + "]";

TEST(ChatTools, AreRead) {
  const ToolRequest free = Read("{" + kBoth + "}");
  ASSERT_EQ(free.tools.size(), 2u);
  EXPECT_EQ(free.choice, ToolChoice::kAuto);
  EXPECT_FALSE(free.is_single);
  EXPECT_EQ(free.tools[0].name, "look");
  EXPECT_LT(free.tools[0].parameters.find("\"z\""), free.tools[0].parameters.find("\"a\""));  // as they came
  EXPECT_EQ(free.tools[1].parameters, "");
  EXPECT_EQ(free.tools[1].text, R"({"type":"function","function":{"name":"wait"}})");

  EXPECT_EQ(Read("{" + kBoth + R"(, "tool_choice": "required", "parallel_tool_calls": false})").choice,
            ToolChoice::kRequired);
  EXPECT_TRUE(Read("{" + kBoth + R"(, "parallel_tool_calls": false})").is_single);
  const ToolRequest none = Read("{" + kBoth + R"(, "tool_choice": "none"})");
  EXPECT_TRUE(none.tools.empty() && !none.is_on());
  const ToolRequest named =
      Read("{" + kBoth + R"(, "tool_choice": {"type": "function", "function": {"name": "wait"}}})");
  ASSERT_EQ(named.tools.size(), 1u);
  EXPECT_EQ(named.tools[0].index, 1u);
  EXPECT_TRUE(named.choice == ToolChoice::kRequired && named.is_single);
  for (const char* body : {"{}", R"({"tools": [], "tool_choice": "auto"})", R"({"tools": null, "tool_choice": null})",
                           R"({"tool_choice": "none", "parallel_tool_calls": true})"}) {
    EXPECT_FALSE(Read(body).is_on()) << body;
  }
}

TEST(ChatTools, WhatIsWrongIsNamed) {
  const auto list = [](const std::string& tools) { return Refused(R"({"tools": [)" + tools + "]}"); };
  EXPECT_EQ(Refused(R"({"tools": {}})"), "tools must be a list of tools");
  EXPECT_EQ(list("5"), "tools[0] must be an object");
  EXPECT_EQ(list(R"({"type": "retrieval"})"), "tools[0].type is 'retrieval'; only function is understood");
  EXPECT_EQ(list(R"({"type": "function"})"), "tools[0].function must be an object");
  EXPECT_EQ(list(Tool("{}")), "tools[0].function.name is missing");
  for (const char* name :
       {"", "a b", "é", "a\\\"b", "12345678901234567890123456789012345678901234567890123456789012345"}) {
    EXPECT_EQ(list(Tool(std::string(R"({"name": ")") + name + "\"}")),
              "tools[0].function.name must be 1 to 64 letters, digits, underscores, dashes or points");
  }
  EXPECT_EQ(list(Tool(R"({"name": "a", "description": 1})")), "tools[0].function.description must be a string");
  EXPECT_EQ(list(Tool(R"({"name": "a", "parameters": []})")),
            "tools[0].function.parameters must be a JSON schema: an object");
  EXPECT_EQ(list(Tool(R"({"name": "a"})").append(",").append(Tool(R"({"name": "a"})"))),
            "tools[1].function.name is 'a' a second time");
  std::string many = Tool(R"({"name": "a0"})");
  for (int i = 1; i < 129; ++i) many.append(",").append(Tool(R"({"name": "a)" + std::to_string(i) + "\"}"));
  EXPECT_EQ(list(many), "tools has more than 128 entries");

  const auto choice = [](const std::string& value) {
    return Refused("{" + kBoth + R"(, "tool_choice": )" + value + "}");
  };
  const std::string valid =
      "tool_choice must be none, auto, required or {\"type\": \"function\", \"function\": "
      "{\"name\": ...}}";
  EXPECT_EQ(choice("\"any\""), valid);
  EXPECT_EQ(choice("5"), valid);
  EXPECT_EQ(choice(R"({"type": "function"})"), valid);
  EXPECT_EQ(choice(R"({"function": {}})"), "tool_choice.function.name is missing");
  EXPECT_EQ(choice(R"({"function": {"name": "fly"}})"),
            "tool_choice.function.name is 'fly', which is not among the tools");
  EXPECT_EQ(Refused(R"({"tool_choice": "required"})"), "tool_choice is required, but there are no tools");
  EXPECT_EQ(Refused(R"({"parallel_tool_calls": 1})"), "parallel_tool_calls must be true or false");
}

ByteAutomaton Language(const std::string& more, ToolForm form = ToolForm::kTagged, const LanguageSpec& beside = {}) {
  ToolRequest request = Read("{" + kBoth + more + "}");
  request.form = form;
  return AnswerLanguageOf(request, beside).value();
}

std::string Call(const std::string& json) { return "<tool_call>\n" + json + "\n</tool_call>"; }

const std::string kLooks = Call(R"({"name": "look", "arguments": {"z": 2, "a":null}})");
const std::string kWaits = Call(R"({"name": "wait", "arguments": {}})");

TEST(ToolLanguage, HoldsArgumentsToTheirSchema) {
  const ByteAutomaton any = Language(R"(, "tool_choice": "required")");
  EXPECT_TRUE(any.Matches(kLooks));
  EXPECT_TRUE(any.Matches(kWaits));
  EXPECT_TRUE(any.Matches(kWaits + "\n" + kLooks + "\n" + kWaits));
  EXPECT_FALSE(any.Matches(""));
  EXPECT_FALSE(any.Matches("I wait"));
  EXPECT_FALSE(any.Matches(kWaits + "\n"));
  EXPECT_FALSE(any.Matches(Call(R"({"name": "look", "arguments": {}})")));
  EXPECT_FALSE(any.Matches(Call(R"({"name": "look", "arguments": {"z": 4, "a": "x"}})")));
  EXPECT_FALSE(any.Matches(Call(R"({"name": "wait", "arguments": {"z": 1, "a": "x"}})")));
  EXPECT_FALSE(
      Language(R"(, "tool_choice": "required", "parallel_tool_calls": false)").Matches(kWaits + "\n" + kWaits));
  const ByteAutomaton named = Language(R"(, "tool_choice": {"function": {"name": "look"}})");
  EXPECT_TRUE(named.Matches(kLooks));
  EXPECT_FALSE(named.Matches(kWaits) || named.Matches(kLooks + "\n" + kLooks));
  const ByteAutomaton bare = Language(R"(, "tool_choice": "required")", ToolForm::kBare);
  EXPECT_TRUE(bare.Matches(R"({"name": "look", "parameters": {"z": 2, "a": "x"}})"));
  EXPECT_FALSE(bare.Matches(kLooks));
}

TEST(ToolLanguage, StandsBesideAnother) {
  const LanguageSpec words{.choices = {"yes", "no"}};
  const ByteAutomaton either = Language("", ToolForm::kTagged, words);
  EXPECT_TRUE(either.Matches("yes") && either.Matches(kWaits));
  EXPECT_FALSE(either.Matches("maybe") || either.Matches(std::string("yes").append(kWaits)));
  EXPECT_FALSE(Language(R"(, "tool_choice": "required")", ToolForm::kTagged, words).Matches("yes"));
  EXPECT_FALSE(Language(R"(, "tool_choice": "none")", ToolForm::kTagged, words).Matches(kWaits));
  EXPECT_EQ(AnswerLanguageOf(Read("{" + kBoth + "}"), {}), std::nullopt);
}

/// What is said of a tool with these parameters that must be called; its field must be theirs.
std::string SchemaError(const std::string& parameters) {
  try {
    AnswerLanguageOf(
        Read(R"({"tools": [)" + Tool(R"({"name": "wait"})") + "," +
             Tool(R"({"name": "f", "parameters": )" + parameters + "}") + R"(], "tool_choice": "required"})"),
        {});
  } catch (const ApiError& error) {
    EXPECT_EQ(error.param(), "tools[1].function.parameters");
    return error.what();
  }
  return "";
}

TEST(ToolLanguage, SchemasThatAreNotSupportedAreNamed) {
  EXPECT_NE(SchemaError(R"({"type": "object", "properties": {"a": {"not": {}}}})").find("'f'"), std::string::npos);
  EXPECT_EQ(SchemaError(R"({"type": "string"})"), "the parameters of 'f' are not of type object");
  EXPECT_EQ(SchemaError(R"({"type": "object", "properties": {}, "additionalProperties": false})"), "");
  EXPECT_EQ(SchemaError(R"({"type": "object", "additionalProperties": {"type": "integer"}})"), "");
}

TEST(ToolLanguage, ManyToolsShareTheBoundsOfOneSchema) {
  std::string tools;
  for (int i = 0; i < 40; ++i) {
    if (i > 0) tools += ',';
    tools += Tool(R"({"name": "f)" + std::to_string(i) +
                  R"(", "parameters": {"properties": {"a": {"type": "string", "pattern": "b+",
                                        "minLength": 2}}}})");
  }
  EXPECT_THROW(AnswerLanguageOf(Read(R"({"tools": [)" + tools + R"(], "tool_choice": "required"})"), {}), ApiError);
}

TEST(ToolTexts, TellOfToolsInWords) {
  const std::vector<ChatMessage> messages = {
      {.role = "user", .content = "Where?"},
      {.role = "assistant", .content = "Hm.", .calls = {{"1", "look", "{\"z\": 1}"}, {"2", "wait", ""}}},
      {.role = "tool", .content = "there", .call_id = "1"},
      {.role = "tool", .content = "waited", .call_id = "2"},
      {.role = "assistant", .content = "There."}};
  const std::vector<ChatMessage> told = ToolsInWords(messages, {});
  ASSERT_EQ(told.size(), 4u);
  EXPECT_EQ(told[1].content, "Hm.\n" + Call(R"({"name": "look", "arguments": {"z": 1}})") + "\n" + kWaits);
  EXPECT_TRUE(told[1].calls.empty());
  EXPECT_EQ(told[2].role, "user");
  EXPECT_EQ(told[2].content, "<tool_response>\nthere\n</tool_response>\n<tool_response>\nwaited\n</tool_response>");
  const std::vector<punt::Tool> tools = Read("{" + kBoth + "}").tools;
  const std::vector<ChatMessage> with = ToolsInWords(messages, tools);
  ASSERT_EQ(with.size(), 5u);
  EXPECT_EQ(with[0].role, "system");
  for (const punt::Tool& tool : tools) EXPECT_NE(with[0].content.find("\n" + tool.text + "\n"), std::string::npos);
  const std::vector<ChatMessage> own = ToolsInWords(std::vector<ChatMessage>{{"system", "Be brief."}}, tools);
  ASSERT_EQ(own.size(), 1u);
  EXPECT_EQ(own[0].content, "Be brief.\n\n" + with[0].content);
}

}  // namespace
}  // namespace punt
