// Reading responses, matching them with items, summing up.
#include "eval/score.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error_testing.h"
#include "punt/error.h"
#include "tasks/scorer_rows.h"

namespace punt {
namespace {

constexpr const char* kData = R"({"question": "one?", "answer": "#### 1"}
{"question": "two  ?", "answer": "#### 2"}
{"question": "three?", "answer": "#### 3"}
)";

/// "item:text" of all that was matched.
std::string Matched(std::string_view file) {
  const auto scorer = kGsm8kScorer.make({kData});
  const std::vector<GivenResponse> given = ParseResponses(file);
  std::string text;
  for (const ItemResponse& entry : MatchResponses(*scorer, given)) {
    text += std::to_string(entry.item) + ":" + entry.response->text + " ";
  }
  return text;
}

TEST(Responses, ByIdIndexQuestionOrOrder) {
  EXPECT_EQ(Matched("{\"response\": \"a\"}\n{\"response\": \"b\"}\n"), "0:a 1:b ");
  EXPECT_EQ(Matched("{\"id\": 2, \"response\": \"a\"}\n\n{\"id\": \"0\", \"response\": \"b\"}"), "0:b 2:a ");
  EXPECT_EQ(Matched(R"({"index": 1, "text": "a"})"), "1:a ");
  EXPECT_EQ(Matched(R"({"question": " two ?", "completion": "a"})"), "1:a ");
  EXPECT_EQ(Matched(R"([{"response": "a"}, {"response": "b"}])"), "0:a 1:b ");
  EXPECT_EQ(Matched(R"({"response": "a<|eot_id|>b"})"), "0:a ");
}

TEST(Responses, LogsOfHarnesses) {
  // One line per filter: the same response twice.
  const char* log =
      R"({"doc_id": 2, "doc": {"question": "three?"}, "resps": [["a", "z"]], "filtered_resps": ["[invalid]"], "filter": "strict-match"}
{"doc_id": 2, "doc": {"question": "three?"}, "resps": [["a", "z"]], "filtered_resps": ["3"], "filter": "flexible-extract"})";
  EXPECT_EQ(Matched(log), "2:a ");
  const char* generations =
      R"({"generations": [{"question": "two ?", "prompt_input": "x", "generations": "a", "ground_truth": 2.0},
    {"question": "one?", "generations": "b<|endoftext|>", "ground_truth": 1.0}], "metrics": {"wall_time": 1}})";
  EXPECT_EQ(Matched(generations), "0:b 1:a ");
}

TEST(Responses, ErrorsNameTheLine) {
  const auto error = [](const char* file) { return ErrorOf([&] { Matched(file); }); };
  EXPECT_EQ(error(""), "there are no responses");
  EXPECT_EQ(error("{\"response\": \"a\"}\nnonsense"), "line 2: not a JSON object");
  EXPECT_EQ(error("{\"response\": \"a\"}\n\n{\"id\": 1}"), "line 3: no response: expected a text under 'response'");
  EXPECT_EQ(error(R"({"response": 5})"), "line 1: 'response' is not a text");
  EXPECT_EQ(error(R"({"resps": [[]]})"), "line 1: 'resps' is not a text");
  EXPECT_EQ(error(R"({"id": "x", "response": "a"})"), "line 1: there is no item 'x'");
  EXPECT_EQ(error(R"({"doc_id": 3, "response": "a"})"), "line 1: there is no item 3; the data has 3");
  EXPECT_EQ(error(R"({"question": "four?", "response": "a"})"), "line 1: the data has no such question");
  EXPECT_EQ(error(R"({"doc_id": 0, "question": "two ?", "response": "a"})"),
            "line 1: the question is not that of item '0'");
  EXPECT_EQ(error("{\"id\": 1, \"response\": \"a\"}\n{\"id\": 1, \"response\": \"b\"}"),
            "line 2: a second response to item '1', other than that of line 1");
  EXPECT_EQ(error(R"([{"response": "a"}, 5])"), "record 2: not a JSON object");
  EXPECT_EQ(error("{\"response\": \"a\"}\n{\"response\": \"a\"}\n{\"response\": \"a\"}\n{\"response\": \"a\"}"),
            "line 4: more responses than items (3)");
}

TEST(Score, SumsUp) {
  const auto scorer = kGsm8kScorer.make({kData});
  const auto given = ParseResponses("{\"id\": 0, \"response\": \"#### 1\"}\n{\"id\": 2, \"response\": \"it is 3\"}\n");
  std::vector<std::string> lines;
  const ScoreSummary summary = ScoreAll(kGsm8kScorer, *scorer, MatchResponses(*scorer, given),
                                        [&](const ScoreRecord& record) { lines.push_back(ScoreLine(record)); });
  EXPECT_EQ(summary.items, 2u);
  EXPECT_EQ(summary.data_items, 3u);
  EXPECT_EQ(summary.accuracy.value, 1);
  EXPECT_FALSE(summary.accuracy.ci95) << "two are too few";
  ASSERT_EQ(summary.figures.size(), 1u);
  EXPECT_EQ(summary.figures[0].name, "strict_match");
  EXPECT_EQ(summary.figures[0].value, 0.5);
  ASSERT_EQ(summary.notes.size(), 1u);
  EXPECT_EQ(summary.notes[0], "1 of 3 items have no response and are not counted");
  ASSERT_EQ(lines.size(), 2u);
  const auto line = nlohmann::json::parse(lines[1]);
  EXPECT_EQ(line["id"], "2");
  EXPECT_EQ(line["correct"], true);
  EXPECT_EQ(line["extracted"], "3");
  EXPECT_EQ(line["gold"], "3");
  EXPECT_EQ(line["verdict"]["strict_match"], 0);
  EXPECT_EQ(line["response"], "it is 3");
  EXPECT_EQ(line["prompt"], "three?");
}

}  // namespace
}  // namespace punt
