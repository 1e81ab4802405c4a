#include "writer/answer_constraint.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "base/error_testing.h"
#include "punt/planner.h"
#include "punt/writer.h"

namespace punt {
namespace {

TEST(AnswerConstraint, AnswersMatch) {
  const Writer writer = Writer::Open("toy:markov,length=24,vocab=4,seed=3");
  for (const char* planner : {"scout", "punt", "top-k", "left-to-right", "wino"}) {
    for (std::uint64_t sample = 0; sample < 5; ++sample) {
      const auto ask = [&](Ask what, const Sampling& sampling) {
        what.sample = sample;
        return writer.Write(what, sampling).text;
      };
      const std::regex regex("(ab|c{2})*d?a*");
      EXPECT_TRUE(std::regex_match(ask({.prompt = "abc"}, {.planner = planner, .regex = "(ab|c{2})*d?a*"}), regex));
      EXPECT_EQ(ask({.length = 3}, {.planner = planner, .choices = {"dad", "abba"}}), "dad") << "the other is longer";
      const std::string infill =
          ask({.infill = ParseHoles("a[MASK:2]c[MASK]")}, {.planner = planner, .regex = "ab+c[cd]"});
      EXPECT_TRUE(infill == "abbcc" || infill == "abbcd") << infill;
    }
  }
}

TEST(AnswerConstraint, WhatCannotBeIsRefusedBeforeTheFirstPass) {
  const Writer writer = Writer::Open("toy:markov,length=24,vocab=4,seed=3");
  const auto refusal = [&](const Ask& ask, const Sampling& sampling) {
    return ErrorOf([&] { writer.Write(ask, sampling); });
  };
  EXPECT_EQ(refusal({.length = 5}, {.regex = "a{7}b*"}),
            "the regular expression does not fit 5 positions: its shortest text takes 7");
  EXPECT_NE(refusal({.length = 5}, {.choices = {"ab", "abc"}}).find("has no text of exactly 5 tokens"),
            std::string::npos);
  EXPECT_NE(refusal({.infill = ParseHoles("a[MASK:2]c")}, {.regex = "ab"}).find("the given text"), std::string::npos);
  EXPECT_EQ(refusal({}, {.regex = "x+"}),
            "no sequence of this model's tokens spells a text that the regular expression matches");
  EXPECT_EQ(refusal({}, {.regex = "a", .choices = {"b"}}),
            "a regular expression, choices, a JSON schema and a template exclude each other");
  EXPECT_NE(refusal({}, {.regex = "a("}).find("character 3: ')' is missing"), std::string::npos);
  EXPECT_NE(refusal({}, {.json_schema = "{"}).find("the JSON schema: "), std::string::npos);
}

// With a real vocabulary: a text that ends before the canvas does, and one that continues a prompt.
TEST(AnswerConstraint, StoriesAsJson) {
  const Writer writer = Writer::Open(PUNT_SOURCE_DIR "/models/stories.gguf");
  const char* schema = R"({"type": "object", "properties": {"name": {"type": "string", "maxLength": 12},
                           "age": {"type": "integer", "minimum": 1, "maximum": 99},
                           "pet": {"enum": ["dog", "cat", null]}}, "required": ["name", "age"]})";
  for (const char* prompt : {"", "Lily had a dog. As JSON:"}) {
    const Answer answer = writer.Write({.prompt = prompt, .length = 64}, {.planner = "punt", .json_schema = schema});
    const auto json = nlohmann::json::parse(answer.text, nullptr, false);
    ASSERT_TRUE(json.is_object()) << answer.text;
    EXPECT_TRUE(json.at("name").is_string() && json.at("age").is_number_integer()) << answer.text;
  }
}

}  // namespace
}  // namespace punt
