// Chat templates against what jinja2 makes of them; whose words are whose; and templates that mean harm.
#include "text/chat_template.h"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "base/error_testing.h"
#include "text/hf_json.h"

namespace punt {
namespace {

using std::string_literals::operator""s;
using Ordered = nlohmann::ordered_json;

ChatTemplate TemplateOf(const std::string& text) { return {.text = text, .bos_token = "<s>", .eos_token = "</s>"}; }

std::string Text(const std::vector<ChatPart>& parts, bool messages_only = false) {
  std::string text;
  for (const ChatPart& part : parts) text += messages_only && !part.is_message ? "" : part.text;
  return text;
}

std::string Written(const std::string& chat_template, const std::vector<ChatMessage>& messages) {
  return Text(ApplyChatTemplate(TemplateOf(chat_template), messages));
}

std::string Repeated(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

const std::vector<ChatMessage> kHello = {{"user", "Hello"}};

ChatMessage MessageOf(const Ordered& message) {
  ChatMessage result{message.at("role"), message.at("content")};
  for (const Ordered& call : message.value("tool_calls", Ordered::array())) {
    const Ordered& function = call.at("function");
    result.calls.push_back({call.at("id"), function.at("name"), function.at("arguments").dump()});
  }
  result.call_id = message.value("tool_call_id", "");
  return result;
}

TEST(ChatTemplateTest, WritesWhatJinjaWrites) {
  const Ordered cases =
      Ordered::parse(ReadWholeFile(std::string(PUNT_SOURCE_DIR) + "/tests/golden/chat_templates/cases.json"));
  ASSERT_GE(cases.size(), 40u);
  for (const Ordered& item : cases) {
    std::vector<ChatMessage> messages;
    for (const Ordered& message : item.at("messages")) messages.push_back(MessageOf(message));
    ChatOptions options;
    for (const Ordered& tool : item.value("tools", Ordered::array())) options.tools.push_back(tool.dump());
    EXPECT_EQ(Text(ApplyChatTemplate(TemplateOf(item.at("template")), messages, options)),
              item.at("text").get<std::string>())
        << item.at("name");
  }
}

TEST(ChatTemplateTest, AreToldWhetherToThink) {
  // As the templates of Qwen3 end: an empty block takes the place of thoughts.
  const ChatTemplate qwen = TemplateOf(
      "{% for m in messages %}{{ m.content }}{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n"
      "{% if enable_thinking is defined and enable_thinking is false %}<think>\n\n</think>\n\n{% endif %}{% endif %}");
  const auto written = [&](std::optional<bool> thinking) {
    return Text(ApplyChatTemplate(qwen, kHello, {.thinking = thinking}));
  };
  EXPECT_EQ(written(std::nullopt), "Hello<|im_start|>assistant\n");
  EXPECT_EQ(written(true), "Hello<|im_start|>assistant\n");
  EXPECT_EQ(written(false), "Hello<|im_start|>assistant\n<think>\n\n</think>\n\n");
}

TEST(ChatTemplateTest, PartsTellWhoseWordsTheyAre) {
  const std::vector<ChatMessage> messages = {{"system", " <|end|> "}, {"user", "<a>"}};
  const std::string text = "{% for m in messages %}<|{{ m.role }}|>{{ m.content | trim }}<|end|>{% endfor %}";
  const std::pair<const char*, bool> wanted[] = {
      {"<|system|>", false}, {"<|end|>", true}, {"<|end|><|user|>", false}, {"<a>", true}, {"<|end|>", false}};
  const std::vector<ChatPart> parts = ApplyChatTemplate(TemplateOf(text), messages);
  ASSERT_EQ(parts.size(), std::size(wanted));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(parts[i].text, wanted[i].first);
    EXPECT_EQ(parts[i].is_message, wanted[i].second) << parts[i].text;
  }
}

TEST(ChatTemplateTest, WordsOfMessagesStayTheirsWhateverIsDoneToThem) {
  const std::vector<ChatMessage> messages = {{"user", "\x01 a,\x01<b>\x01\n\x01"}, {"assistant", "\x01"}};
  for (const char* expression : {"c",
                                 "c | upper",
                                 "c | trim",
                                 "c.split(',')[0]",
                                 "c.split(',')[1]",
                                 "c.rsplit(',')[0]",
                                 "c.split()[0]",
                                 "c.replace('<b>', '<i>')",
                                 "('<s>' + c).replace('a', 'b')",
                                 "'<s>'.replace('s', c)",
                                 "c[1:]",
                                 "('<s>' ~ c)[2:]",
                                 "c[0]",
                                 "c.0",
                                 "strftime_now(c)",
                                 "[c.split]",
                                 "{c: c}.keys() | list | first",
                                 "c | int ~ c",
                                 "c['split'](',')[0]",
                                 "c[::-1]",
                                 "c | tojson",
                                 "messages | tojson",
                                 "messages[0] | string",
                                 "messages | string",
                                 "[c, '<s>'] | join(',')",
                                 "['<s>', '</s>'] | join(c)",
                                 "messages | map(attribute='content') | join",
                                 "c | indent(2)",
                                 "'{}'.format(c)",
                                 "('<s>' ~ c).strip('<')",
                                 "c * 2",
                                 "'' ~ messages",
                                 "'<s>' ~ [c]",
                                 "c | title",
                                 "c | capitalize",
                                 "c | default('x')",
                                 "c | string",
                                 "c.format()",
                                 "(c ~ '{}').format('x')",
                                 "{c: c} | tojson",
                                 "[[c]] | tojson",
                                 "[c]",
                                 "messages[0]['content'] | safe",
                                 "(c ~ '\n<s>') | indent(4)",
                                 "{'k': c}.items() | list | string"}) {
    const std::string text = std::string("{% set c = messages[0].content %}<s>{{ ") + expression + " }}";
    const std::vector<ChatPart> parts = ApplyChatTemplate(TemplateOf(text), messages);
    ASSERT_FALSE(parts.empty());
    EXPECT_EQ(parts.front().text.substr(0, 3), "<s>") << expression;
    EXPECT_FALSE(parts.front().is_message) << expression;
    for (const ChatPart& part : parts) {
      const bool has_word = part.text.find('\x01') != std::string::npos || part.text.find("u0001") != std::string::npos;
      EXPECT_TRUE(part.is_message || !has_word) << expression << ": " << part.text;
    }
  }
}

TEST(ChatTemplateTest, WordsOfToolsAndCallsAreTheMessages) {
  const std::vector<ChatMessage> messages = {
      {.role = "assistant", .content = "", .calls = {{"\x01 1", "\x01n", R"({"\u0001k": {"\u0001l": 3}})"}}},
      {.role = "tool", .content = "", .call_id = "\x01"}};
  const ChatOptions options{
      .tools = {R"({"function": {"name": "\u0001", "parameters": {"\u0001p": {"\u0001q": 1}}}})"}};
  for (const char* expression :
       {"tools | tojson", "tools[0].function.parameters | tojson",
        "tools[0].function.parameters.items() | list | string", "messages[0].tool_calls[0].function.arguments | tojson",
        "messages[0].tool_calls[0].id", "messages[1].tool_call_id", "messages[0].tool_calls[0].function.name",
        "messages[0].tool_calls | string"}) {
    const std::string text = std::string("<s>{{ ") + expression + " }}";
    bool has_word = false;
    for (const ChatPart& part : ApplyChatTemplate(TemplateOf(text), messages, options)) {
      const bool is_word = part.text.find('\x01') != std::string::npos || part.text.find("u0001") != std::string::npos;
      EXPECT_TRUE(part.is_message || !is_word) << expression << ": " << part.text;
      has_word = has_word || is_word;
    }
    EXPECT_TRUE(has_word) << expression;
  }
}

TEST(ChatTemplateTest, ArgumentsThatAreNoObjectStayText) {
  const auto written = [](const std::string& arguments) {
    const std::vector<ChatMessage> messages = {{.role = "assistant", .content = "", .calls = {{"", "f", arguments}}}};
    return Written("{{ messages[0].tool_calls[0].function.arguments | tojson }}", messages);
  };
  EXPECT_EQ(written(R"({"b":18446744073709551615,"a":-2,"c":9007199254740993})"),
            R"({"b": 1.8446744073709552e+19, "a": -2, "c": 9007199254740993})");
  EXPECT_EQ(written("{\"a\": "), R"("{\"a\": ")");
  EXPECT_EQ(written("[1]"), R"("[1]")");
  EXPECT_EQ(written(""), R"("")");
}

TEST(ChatTemplateTest, ToolsThatAreNoObjectsAreRefused) {
  for (const char* tool : {"", "[1]", "{", R"({"name": "\u0000"})"}) {
    EXPECT_EQ(ErrorOf([&] { ApplyChatTemplate(TemplateOf("{{ tools }}"), kHello, {.tools = {tool}}); }),
              "a tool is no JSON object, or holds a zero byte");
  }
  const std::string deep = Repeated("{\"a\":", 60) + "1" + Repeated("}", 60);
  EXPECT_EQ(Text(ApplyChatTemplate(TemplateOf("{{ tools | tojson | length }}"), kHello, {.tools = {deep}})), "423");
  const std::string words = ErrorOf([] {
    Written("a", {{.role = "assistant", .content = "", .calls = {{"", "f", "\0"s}}}});
  });
  EXPECT_EQ(words, "a message of the conversation holds a zero byte");
}

TEST(ChatTemplateTest, TheFormOfCallsIsReadOffTheInstructions) {
  EXPECT_EQ(ToolFormOf(""), ToolForm::kNone);
  EXPECT_EQ(ToolFormOf("{% if tools %}<tool_call>\n{\\\"name\\\": <n>, \\\"arguments\\\": <a>}"), ToolForm::kTagged);
  EXPECT_EQ(ToolFormOf("<tool_call> arguments"), ToolForm::kNone);
  EXPECT_EQ(ToolFormOf("{{ tools }}<tool_call>\n<function=name>\n<parameter=arguments>"), ToolForm::kNone);
  EXPECT_EQ(ToolFormOf("{{ tools }}<tool_call>f\n<arg_key>k</arg_key> arguments"), ToolForm::kNone);
  EXPECT_EQ(
      ToolFormOf("{{ tools }}{\"name\": function name, \"parameters\": dictionary of argument name and its value}"),
      ToolForm::kBare);
}

TEST(ChatTemplateTest, TheTemplateMayRefuseAConversation) {
  EXPECT_EQ(ErrorOf([] { Written("a{{ raise_exception('Roles must\nalternate') }}", kHello); }),
            "the model's chat template refuses the conversation: Roles must alternate");
}

TEST(ChatTemplateTest, WhatCannotBeRunIsNamed) {
  const struct {
    const char* text;
    const char* words;
  } cases[] = {
      {"{{ messages | conjure }}", "no filter 'conjure' for a value of type Array"},
      {"{{ 1 is strange }}", "Unknown test 'strange'"},
      {"{% if x %}a", "Unexpected token"},
      {"{{ 'a }}", "unexpected end of input"},
      {"{{ 1 / 0 }}", "it divides by zero"},
      {"{{ 5 % 0 }}", "it divides by zero"},
      {"{{ 5 is divisibleby(0) }}", "it divides by zero"},
      {"{{ none + 1 }}", "null values"},
      {"{{ call_me() }}", "Callee is not a function"},
      {"{% for x in 5 %}{% endfor %}", "Expected iterable"},
      {"{% include 'a' %}", "include"},
  };
  for (const auto& item : cases) {
    const std::string said = ErrorOf([&] { Written(item.text, kHello); });
    EXPECT_EQ(said.substr(0, 46), "the model's chat template cannot be run: " + said.substr(41, 5)) << said;
    EXPECT_NE(said.find(item.words), std::string::npos) << item.text << ": " << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
    EXPECT_LT(said.size(), 300u);
  }
}

TEST(ChatTemplateTest, HostileTemplatesAreStopped) {
  const std::string cycle = "{% set n = namespace(a=1, l=[]) %}{% set n.a = n %}";
  const std::string grown = "{% set n = namespace(x='ab', l=['a']) %}{% for i in range(60) %}";
  const std::string hostile[] = {
      // loops
      "{% for i in range(1000000000000) %}{% endfor %}",
      "{{ range(-1000000000000, 1000000000000) | length }}",
      "{{ range(9223372036854775807) }}",
      "{% for i in range(90000) %}{% for j in range(90000) %}{% endfor %}{% endfor %}",
      Repeated("{% for i in range(9) %}", 12) + "x" + Repeated("{% endfor %}", 12),
      // recursion: of macros, of the text, of values
      "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
      "{% macro f(x=f()) %}{% endmacro %}{{ f() }}",
      "{% macro f(n) %}{{ f(n - 1) }}{{ f(n - 1) }}{% endmacro %}{{ f(50) }}",
      "{% macro f() %}{% call f() %}{% endcall %}{% endmacro %}{{ f() }}",
      "{% macro f() %}{{ " + Repeated("not ", 1900) + "f() }}{% endmacro %}{{ f() }}",
      "{% macro f() %}{{ " + Repeated("0 if 0 else ", 490) + "f() }}{% endmacro %}{{ f() }}",
      "{% macro f() %}{{ " + Repeated("[", 60) + "f()" + Repeated("]", 60) + " }}{% endmacro %}{{ f() }}",
      "{% macro f() %}{{ " + Repeated("{1: ", 60) + "f()" + Repeated("}", 60) + " }}{% endmacro %}{{ f() }}",
      "{{ " + Repeated("(", 20000) + Repeated(")", 20000) + " }}",
      "{{ " + Repeated("[", 20000) + Repeated("]", 20000) + " }}",
      "{{ " + Repeated("not ", 20000) + "1 }}",
      "{{ " + Repeated("- ", 20000) + "1 }}",
      "{{ 1" + Repeated(" ~ 1", 20000) + " }}",
      "{{ a" + Repeated(".a", 40000) + " }}",
      "{{ a" + Repeated("()", 40000) + " }}",
      "{{ 'a'" + Repeated("|trim", 20000) + " }}",
      "{{ 1" + Repeated(" if 1 else 1", 9000) + " }}",
      Repeated("{% if 1 %}", 9000),
      "{% if 0 %}" + Repeated("{% elif 0 %}", 9000) + "{% endif %}",
      Repeated("{% set x %}", 9000),
      Repeated("{% set f(x=1) %}", 8000),
      "{% set n = namespace(x=[]) %}{% for i in range(90000) %}{% set n.x = [n.x] %}{% endfor %}",
      // values
      "{{ 'a' * 1000000000000 }}",
      "{{ 'abcdefgh' | indent(1000000000) }}",
      "{% set s = 'a' * 9999 %}{{ s.replace('a', s) | length }}{{ s.replace('a', s * 999) | length }}",
      "{% set s = 'a' * 100000 %}{{ range(90000) | join(s) | length }}",
      "{{ messages | tojson(indent=1000000000) }}",
      grown + "{% set n.x = n.x ~ n.x %}{% endfor %}",
      grown + "{% set n.l = n.l + n.l %}{% endfor %}",
      grown + "{% set n.l = [n.l, n.l] %}{% endfor %}{{ n.l | tojson | length }}",
      grown + "{% set n.l = {'a': n.l, 'b': n.l} %}{% endfor %}{{ n.l == n.l }}",
      "{% set s = 'a' * 1000000 %}{% for i in range(90000) %}{{ s }}{% endfor %}",
      "{% set s = 'a' * 1000000 %}{% for i in range(90000) %}{% set t = s | upper %}{% endfor %}",
      // values that contain themselves
      cycle + "{{ n | tojson }}",
      cycle + "{{ n == n }}",
      cycle + "{{ n }}",
      cycle + "{{ 'a' ~ n }}",
      "{% set l = [1] %}{{ l.append(l) }}",
      "{% set l = [1] %}{% set x = l.append(l.append) %}{{ [l] | string }}",
      // undefined behaviour of the engine
      "{{ [9, 10, '5'] | sort }}",
      "{{ {'a': 9, 'b': 10, 'c': '5'} | dictsort(by='value') }}",
      "{{ [1] | select('divisibleby', 0) | list }}",
      "{{ test_is_divisibleby(1, 0) }}",
      "{{ -9223372036854775807 - 2 }}",
      "{{ 999999999999 * 999999999999 }}",
      // long
      Repeated("a", 200000),
      "{{ 'a'" + Repeated(" 'a'", 3000) + " }}",
  };
  for (const std::string& text : hostile) {
    const auto before = std::chrono::steady_clock::now();
    const std::string said = ErrorOf([&] { Written(text, kHello); });
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - before;
    EXPECT_EQ(said.substr(0, 40), "the model's chat template cannot be run:") << text.substr(0, 100) << ": " << said;
    EXPECT_LT(seconds.count(), 60) << text.substr(0, 100);  // a second or two, on a machine of one's own
  }
}

/// A chain of values too long to be freed by recursion, and cycles, which would never be (the address sanitizer sees
/// it).
TEST(ChatTemplateTest, ValuesOfATemplateAreFreed) {
  EXPECT_EQ(Written("{% set n = namespace(a=1) %}{% set n.a = n %}a", kHello), "a");
  const std::string deep = Repeated("[", 40) + "m" + Repeated("]", 40);
  EXPECT_EQ(Written("{% set n = namespace(l=[]) %}{% set first = n.l %}{% for i in range(5000) %}{% set m = [] %}"
                    "{% set x = n.l.append(" +
                        deep + ") %}{% set n.l = m %}{% endfor %}a",
                    {{"user", std::string(2000000, 'a')}}),
            "a");
  ErrorOf([] { Written("{% set l = [] %}{% set x = l.append([l.append]) %}", kHello); });
}

TEST(ChatTemplateTest, LongConversationsAreWritten) {
  const std::string text =
      "{% for m in messages %}{% if m.content.split('</t>') | length > 1 or loop.index0 % 2 == 3 %}"
      "{% endif %}<{{ m.role }}>{{ m.content | trim }}{% endfor %}";
  const std::vector<ChatMessage> many(3000, {"user", "It is late."});
  EXPECT_EQ(Written(text, many).size(), many.size() * 17);
  const std::vector<ChatMessage> large = {{"user", Repeated("</t>", 500000)}};
  EXPECT_EQ(Written(text, large).size(), 2000006u);
}

TEST(ChatTemplateTest, TheDateIsAlwaysTheSame) {
  EXPECT_EQ(Written("{{ strftime_now('%A %d %B %Y %H:%M') }}", kHello), "Friday 26 July 2024 00:00");
}

TEST(ChatTemplateTest, TokensThatAModelDoesNotHaveAreEmpty) {
  EXPECT_EQ(Text(ApplyChatTemplate({.text = "{{ bos_token + 'a' }}{{ eos_token }}"}, kHello)), "a");
}

}  // namespace
}  // namespace punt
