#include "tasks/ifeval/ifeval.h"

#include <gtest/gtest.h>

#include "punt/error.h"
#include "tasks/ifeval/ifeval_testing.h"

namespace punt {
namespace {

using testing::DataFolder;
using Verdicts = std::vector<bool>;

constexpr const char* kPrompts =
    R"({"key": 7, "prompt": "Say it.", "instruction_id_list": ["punctuation:no_comma", "startend:quotation"], "kwargs": [{}, {}]})"
    "\n\n"
    R"({"key": 9, "prompt": "Write.", "instruction_id_list": ["length_constraints:number_words"], )"
    R"("kwargs": [{"relation": "less than", "num_words": 4.0, "keywords": null, "letter": ""}]})"
    "\n";

IfevalPaths WriteIfeval(const DataFolder& folder, const std::string& prompts) {
  testing::WritePunkt(folder);
  testing::WriteProfiles(folder);
  folder.Write("prompts.jsonl", prompts);
  return {.prompts = folder.Path("prompts.jsonl"), .punkt = folder.Path("punkt"), .profiles = folder.Path("profiles")};
}

class IfevalTest : public ::testing::Test {
 protected:
  IfevalTest() : folder_("ifeval") {}

  DataFolder folder_;
};

TEST_F(IfevalTest, ReadsPrompts) {
  const IfevalData data(WriteIfeval(folder_, kPrompts));
  ASSERT_EQ(data.prompts().size(), 2u);
  EXPECT_EQ(data.Find(8), nullptr);
  const IfevalPrompt* prompt = data.Find(9);
  ASSERT_NE(prompt, nullptr);
  EXPECT_EQ(prompt->text, "Write.");
  ASSERT_EQ(prompt->instructions.size(), 1u);
  EXPECT_EQ(prompt->instructions[0].check->id, "length_constraints:number_words");
  EXPECT_EQ(prompt->instructions[0].number, 4);
  EXPECT_FALSE(prompt->instructions[0].at_least);
}

TEST_F(IfevalTest, LooseForgivesTheFirstAndTheLastLineAndAsterisks) {
  const IfevalData data(WriteIfeval(folder_, kPrompts));
  const IfevalPrompt& prompt = *data.Find(7);
  const auto expect = [&](const std::string& response, const Verdicts& strict, const Verdicts& loose) {
    const IfevalVerdict verdict = data.Judge(prompt, response);
    EXPECT_EQ(verdict.strict, strict) << response;
    EXPECT_EQ(verdict.loose, loose) << response;
  };
  expect("\"it\"", {true, true}, {true, true});
  expect("Sure, here:\n\"it\"", {false, false}, {true, true});
  expect("\"it\"\nAnything else, Sir?", {false, false}, {true, true});
  expect("Sure, here:\n\"it\"\nAnything else, Sir?", {false, false}, {true, true});
  expect("**\"it\"**", {true, false}, {true, true});
  expect("Sure, here:\n\n*\"it\"*\n\nAnything else?", {false, false}, {true, true});
  expect("a, b\n\"c, d\"\ne, f", {false, false}, {false, true});
  expect("\"a\nb", {true, false}, {true, false});
  expect(" \n", {false, false}, {false, false});
  expect("", {false, false}, {false, false});
  EXPECT_THROW(data.Judge(prompt, "\xff"), Error);
}

TEST_F(IfevalTest, WhatIsFollowedStrictlyIsFollowedLoosely) {
  const IfevalData data(WriteIfeval(folder_, kPrompts));
  for (const std::string response : {"a", "\"a, b\"", "one two three four\nfive", "*\n*", "x\n\"y\"\nz, z"}) {
    for (const IfevalPrompt& prompt : data.prompts()) {
      const IfevalVerdict verdict = data.Judge(prompt, response);
      ASSERT_EQ(verdict.strict.size(), prompt.instructions.size());
      for (std::size_t i = 0; i < verdict.strict.size(); ++i)
        EXPECT_LE(verdict.strict[i], verdict.loose[i]) << response;
    }
  }
}

TEST_F(IfevalTest, Totals) {
  IfevalTotals totals;
  EXPECT_EQ(totals.PromptShare(totals.strict), 0);
  totals.Add({.strict = {true, false}, .loose = {true, true}});
  totals.Add({.strict = {true}, .loose = {true}});
  EXPECT_DOUBLE_EQ(totals.PromptShare(totals.strict), 1.0 / 2);
  EXPECT_DOUBLE_EQ(totals.InstructionShare(totals.strict), 2.0 / 3);
  EXPECT_DOUBLE_EQ(totals.PromptShare(totals.loose), 1);
  EXPECT_DOUBLE_EQ(totals.InstructionShare(totals.loose), 1);
}

TEST_F(IfevalTest, NamesFileAndLineOfErrors) {
  const auto expect = [](const std::string& text, const std::string& message) {
    try {
      ParseIfevalPrompts(text, "p.jsonl");
      FAIL() << "no error: " << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  };
  const auto line = [](const std::string& id, const std::string& arguments) {
    return R"({"key": 1, "prompt": "", "instruction_id_list": [")" + id + R"("], "kwargs": [)" + arguments + "]}";
  };
  expect("", "'p.jsonl' has no prompts");
  expect("\n{", "'p.jsonl' line 2: ");
  expect("{}", "'p.jsonl' line 1: ");
  expect(line("a:b", "{}"), "line 1: instruction 'a:b': unknown instruction");
  expect(line("punctuation:no_comma", ""), "not lists of the same length");
  expect(line("keywords:existence", "{}"), "instruction 'keywords:existence': 'keywords' is missing");
  expect(line("keywords:existence", R"({"keywords": []})"), "'keywords' is missing");
  expect(line("keywords:existence", R"({"keywords": ["a", 3]})"), "not text");
  expect(line("keywords:existence", R"({"keywords": [" "]})"), "blank text");
  expect(line("detectable_format:number_bullet_lists", R"({"num_bullets": 0})"), "'num_bullets' is missing");
  expect(line("detectable_format:number_bullet_lists", R"({"num_bullets": 2.5})"), "'num_bullets' is 2.5");
  expect(line("detectable_format:number_bullet_lists", R"({"num_bullets": -1})"), "'num_bullets' is -1");
  expect(line("length_constraints:number_words", R"({"num_words": 3, "relation": "most"})"), "'relation' is \"most\"");
  expect(line("punctuation:no_comma", "{}") + "\n" + line("punctuation:no_comma", "{}"),
         "line 2: key 1 was there before");
}

}  // namespace
}  // namespace punt
