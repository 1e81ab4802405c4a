// Scorers humaneval and mbpp: the two readings of a response, and bad data. Without walls, so that the tests run
// anywhere: their programs are harmless.
#include <gtest/gtest.h>

#include "eval/task.h"
#include "punt/error.h"
#include "tasks/scorer_rows.h"

namespace punt {
namespace {

constexpr const char* kHumanEval =
    R"x({"task_id": "a/0", "prompt": "from typing import List\n\ndef one() -> int:\n    return 1\n\ndef total(x: List[int]) -> int:\n    \"\"\" Sum. \"\"\"\n", "entry_point": "total", "canonical_solution": "    return sum(x)\n", "test": "def check(candidate):\n    assert candidate([1, 2]) == 3\n    assert candidate([]) == 0\n"})x";
constexpr const char* kMbpp =
    R"x({"task_id": 7, "text": "Add.", "code": "class P: pass\r\ndef add(a, b):\r\n  return a + b", "test_setup_code": "p = P()", "test_list": ["assert add(1, 2) == 3", "assert add(p and 1, 0) == 1"]})x";

/// "10" passed to the letter alone, "01" found alone.
std::string Verdicts(const Scorer& scorer, const std::string& response) {
  const ScoreVerdict verdict = scorer.Judge(0, response);
  return std::string(verdict.values.at(kCorrect) != 0 ? "1" : "0") +
         (verdict.values.at("extracted_pass") != 0 ? "1" : "0");
}

TEST(HumanEvalScorer, TwoReadings) {
  const auto scorer = kHumanEvalScorer.make({kHumanEval, {.sandboxed = false}});
  ASSERT_EQ(scorer->items().size(), 1u);
  EXPECT_EQ(scorer->items()[0].id, "a/0");
  EXPECT_EQ(scorer->items()[0].gold, "    return sum(x)\n");
  const std::string prompt = scorer->items()[0].prompt;
  EXPECT_EQ(Verdicts(*scorer, "    return sum(x)\n"), "11");
  EXPECT_EQ(Verdicts(*scorer, "    return sum(x)\n\n\ndef other(:\n  nonsense"), "11") << "cut at a stop";
  EXPECT_EQ(Verdicts(*scorer, "    return sum(x)\n# Explanation\nprint(total([1]))"), "11");
  EXPECT_EQ(Verdicts(*scorer, "    return sum(x)\n```\nThis adds."), "01");
  EXPECT_EQ(Verdicts(*scorer, "    return sum(x) * one()\n"), "11") << "helpers in the prompt";
  EXPECT_EQ(Verdicts(*scorer, "    return max(x)\n"), "00");
  EXPECT_EQ(Verdicts(*scorer, "    import sys; sys.exit(0)\n"), "00");
  EXPECT_EQ(Verdicts(*scorer, ""), "00");
  // Whole functions, with and without the prompt's imports.
  EXPECT_EQ(Verdicts(*scorer, "Sure:\n```python\n" + prompt + "    return sum(x)\n```"), "01");
  EXPECT_EQ(Verdicts(*scorer, "```python\ndef total(x: List[int]):\n    return sum(x) * one()\n```\nDone."), "01");
  EXPECT_EQ(Verdicts(*scorer, "Here it is.\n\ndef total(x):\n    return sum(x)\n"), "01");
  EXPECT_EQ(Verdicts(*scorer, "def total(x):\n    return sum(x)\n"), "11") << "the prompt's has its comment for a body";
  EXPECT_EQ(Verdicts(*scorer, "def total(x):\n    return 3\n"), "00");
}

TEST(HumanEvalScorer, ReasonsAndRecords) {
  const auto scorer = kHumanEvalScorer.make({kHumanEval, {.sandboxed = false, .seconds = 0.5}});
  ScoreVerdict verdict = scorer->Judge(0, "    return 3\ndef f(): pass");
  EXPECT_EQ(verdict.extracted, "    return 3");
  EXPECT_EQ(verdict.reason, "failed: AssertionError at line 11: assert candidate([]) == 0");
  EXPECT_EQ(scorer->Judge(0, "    while True: pass").reason, "timed out");
  EXPECT_EQ(scorer->Judge(0, "    return bytearray(1 << 40)").reason, "out of memory");
  verdict = scorer->Judge(0, "```\ndef total(x):\n    return sum(x)\n```");
  EXPECT_EQ(verdict.reason.substr(0, 7), "failed:");
  EXPECT_TRUE(verdict.reason.ends_with("; extracted: passed")) << verdict.reason;
}

TEST(MbppScorer, TwoReadings) {
  const auto scorer = kMbppScorer.make({kMbpp, {.sandboxed = false}});
  const std::string code = scorer->items()[0].gold;
  EXPECT_EQ(scorer->items()[0].id, "7");
  EXPECT_EQ(Verdicts(*scorer, code), "11") << "set-up code comes behind the program";
  EXPECT_EQ(Verdicts(*scorer, code + "\n[DONE]\nnonsense"), "11");
  EXPECT_EQ(Verdicts(*scorer, code + "\nnonsense("), "00");
  EXPECT_EQ(Verdicts(*scorer, "[BEGIN]\n" + code + "\n[DONE]\n"), "01");
  EXPECT_EQ(Verdicts(*scorer, "Sure:\n```python\n" + code + "\n```\nDone."), "01");
  EXPECT_EQ(Verdicts(*scorer, "class P: pass\ndef add(a, b): return a - b"), "00");
  EXPECT_EQ(Verdicts(*scorer, "import os; os._exit(0)"), "00");
}

TEST(MbppScorer, TheSanitizedFormat) {
  const auto scorer = kMbppScorer.make(
      {R"x([{"task_id": 2, "prompt": "Root.", "code": "", "test_imports": ["import math"], "test_list": ["assert math.isclose(root(4), 2)"]}])x",
       {.sandboxed = false}});
  EXPECT_EQ(scorer->items()[0].prompt, "Root.");
  EXPECT_EQ(Verdicts(*scorer, "def root(x):\n    return x ** 0.5"), "11");
  EXPECT_EQ(Verdicts(*scorer, "def root(x):\n    return x"), "00");
}

TEST(ProgramScorers, BadDataNamesTheLine) {
  const ProgramOptions programs{.sandboxed = false};
  const auto error = [&](const ScorerRow& row, const char* data) -> std::string {
    try {
      row.make({data, programs});
    } catch (const Error& caught) {
      return caught.what();
    }
    return "";
  };
  EXPECT_EQ(error(kHumanEvalScorer, R"({"task_id": "a", "prompt": "def f():"})"), "line 1: no text under entry_point");
  EXPECT_EQ(error(kHumanEvalScorer, R"({"task_id": "a", "prompt": "def g():", "entry_point": "f", "test": ""})"),
            "line 1: the prompt does not define 'f'");
  EXPECT_EQ(error(kHumanEvalScorer, R"({"task_id": "a", "prompt": "def f():", "entry_point": "f"})"),
            "line 1: no text under test");
  EXPECT_EQ(error(kMbppScorer, R"({"task_id": 1, "text": "t"})"), "line 1: no checks in 'test_list'");
  EXPECT_EQ(error(kMbppScorer, R"({"task_id": 1, "text": "t", "test_list": "x"})"),
            "line 1: 'test_list' is not a list");
  EXPECT_EQ(error(kMbppScorer, R"({"task_id": 1, "text": "t", "test_list": [1]})"),
            "line 1: 'test_list' is not a list of texts");
  EXPECT_EQ(error(kMbppScorer, R"({"text": "t", "test_list": ["assert 1"]})"), "line 1: no task_id");
}

}  // namespace
}  // namespace punt
