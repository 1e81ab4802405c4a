// Calls in what a model writes: which count, what is content, and that it does not matter how the text is cut.
#include "serve/tool_calls.h"

#include <gtest/gtest.h>

#include <random>

namespace punt {
namespace {

CallReading Reading(ToolForm form = ToolForm::kTagged) {
  return CallReading(ToolRequest{
      .tools = {{.name = "look"}, {.name = "wait"}}, .choice = ToolChoice::kAuto, .is_single = false, .form = form});
}

/// "content|name arguments|...": the parts on one line.
std::string Told(const CallParts& parts) {
  std::string told = parts.content;
  for (const ToolCall& call : parts.calls) {
    EXPECT_TRUE(call.id.starts_with("call_")) << call.id;
    told += "|" + call.name + " " + call.arguments;
  }
  return told;
}

std::string Read(const std::string& text, ToolForm form = ToolForm::kTagged) {
  return Told(SplitCalls(Reading(form), text));
}

const std::string kLook = "<tool_call>\n{\"name\": \"look\", \"arguments\": {\"at\": 1}}\n</tool_call>";

TEST(ToolCalls, TaggedCallsAreTakenOutOfTheText) {
  EXPECT_EQ(Read(kLook), "|look {\"at\": 1}");
  EXPECT_EQ(Read("Let me see.\n" + kLook + "\n" + kLook + "\n"), "Let me see.|look {\"at\": 1}|look {\"at\": 1}");
  EXPECT_EQ(Read(kLook + "\n\nSo be it. "), "So be it. |look {\"at\": 1}");
  EXPECT_EQ(Read("a " + kLook + " b"), "a b|look {\"at\": 1}");
  EXPECT_EQ(Read("<tool_call>{\"arguments\":{},\"name\":\"wait\"}</tool_call>"), "|wait {}");
  // The end of the text closes an object that is whole.
  EXPECT_EQ(Read("<tool_call>\n{\"name\": \"wait\", \"arguments\": {}}\n"), "|wait {}");
}

TEST(ToolCalls, ArgumentsAreAsTheModelWroteThem) {
  const std::string odd = R"({ "a":1.50 , "b" : [12345678901234567890123,"</tool_call>\"}{",{"c":null}],"d":-1e5 })";
  EXPECT_EQ(Read("<tool_call>{\"name\" : \"look\" , \"arguments\" : " + odd + " } </tool_call>"), "|look " + odd);
}

TEST(ToolCalls, WhatIsNoCallIsContent) {
  for (const std::string& text : {
           std::string(" plain \n"),
           std::string("<tool_call>"),
           std::string("<tool_call>\n{\"name\": \"look\", \"arguments\": {\"at\": "),
           std::string("<tool_call>\nlook\n</tool_call>"),
           std::string("<tool_call>{\"name\": \"fly\", \"arguments\": {}}</tool_call>"),
           std::string("<tool_call>{\"name\": \"look\"}</tool_call>"),
           std::string("<tool_call>{\"name\": 5, \"arguments\": {}}</tool_call>"),
           std::string("<tool_call>{\"name\": \"look\", \"arguments\": [1]}</tool_call>"),
           std::string("<tool_call>{\"name\": \"look\", \"arguments\": \"{}\"}</tool_call>"),
           std::string("<tool_call>{\"name\": \"look\", \"name\": \"wait\", \"arguments\": {}}</tool_call>"),
           std::string("<tool_call>{\"name\": \"look\", \"arguments\": {}, \"id\": 1}</tool_call>"),
           std::string("<tool_call>{\"name\": \"look\", \"arguments\": {1}}</tool_call>"),
           std::string("<tool_call>{\"name\": \"look\", \"arguments\": {]}</tool_call>"),
           std::string("<tool_call>{\"name\": \"look\", \"arguments\": {\"a\": \"\xff\"}}</tool_call>"),
           std::string("<tool_call>{\"name\": \"look\", \"arguments\": {\"a\": 1e999}}</tool_call>"),
           std::string("<tool_call>{\"name\": \"look\", \"arguments\": {}} and </tool_call>"),
           std::string("<tool_call>{\"name\": \"look\", \"arguments\": {}}</tool"),
           std::string("{\"name\": \"look\", \"arguments\": {}}"),
           std::string("<tool_call>{\"\\"),
       }) {
    EXPECT_EQ(Read(text), text);
  }
  EXPECT_EQ(Read("<tool_call>no" + kLook), "<tool_call>no|look {\"at\": 1}");
  std::string deep = "<tool_call>{\"name\": \"look\", \"arguments\": ";
  for (int i = 0; i < 5000; ++i) deep += "{\"a\":";
  EXPECT_EQ(Read(deep + "1"), deep + "1");
}

TEST(ToolCalls, BareCallsAreTheWholeText) {
  const auto read = [](const std::string& text) { return Read(text, ToolForm::kBare); };
  EXPECT_EQ(read("\n{\"name\": \"look\", \"parameters\": {\"at\": 1}}\n"), "|look {\"at\": 1}");
  EXPECT_EQ(read("{\"name\": \"wait\", \"arguments\": {}}"), "|wait {}");
  for (const char* text :
       {"{\"name\": \"fly\", \"parameters\": {}}", " {\"name\": \"look\"} ", "{\"name\": \"look\", \"par",
        "I {\"name\": \"wait\", \"parameters\": {}}", "{\"name\": \"wait\", \"parameters\": {}} I", " "}) {
    EXPECT_EQ(read(text), text);
  }
}

TEST(ToolCalls, WithoutToolsAllIsContent) { EXPECT_EQ(Told(SplitCalls({}, kLook)), kLook); }

TEST(ToolCalls, HowATextIsCutDoesNotMatter) {
  const std::string pieces[] = {"<tool_call>", "</tool_call>", "{\"name\": \"look\", \"arguments\": {\"at\": \"}\"}}",
                                "{",           "\n",           " a",
                                "<tool",       "\"\\",         kLook};
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    const ToolForm form = round % 4 == 0 ? ToolForm::kBare : ToolForm::kTagged;
    std::string text;
    for (std::size_t i = random() % 7; i > 0; --i) text += pieces[random() % std::size(pieces)];
    CallSplit split(Reading(form));
    CallParts all;
    const auto add = [&](const CallParts& parts) {
      all.content += parts.content;
      all.calls.insert(all.calls.end(), parts.calls.begin(), parts.calls.end());
    };
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = 1 + random() % 9;
      add(split.Add(text.substr(at, size)));
      at += size;
    }
    add(split.Add("", true));
    EXPECT_EQ(Told(all), Read(text, form)) << text;
  }
}

TEST(ToolCalls, TextIsPassedOnAsSoonAsItCannotBeACall) {
  CallSplit split(Reading());
  EXPECT_EQ(split.Add("Well, ").content, "Well,");
  EXPECT_EQ(split.Add("a <b").content, " a <b");
  EXPECT_EQ(split.Add(" <to").content, "");
  EXPECT_EQ(split.Add("ast>").content, " <toast>");
  EXPECT_EQ(split.Add("<tool_call>{\"name\": \"wait\", \"arguments\": {}}").content, "");
  EXPECT_EQ(split.Add("</tool_call>").calls.size(), 1u);
}

}  // namespace
}  // namespace punt
