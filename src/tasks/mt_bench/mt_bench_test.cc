#include "tasks/mt_bench/mt_bench.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error_testing.h"
#include "base/test_data_testing.h"
#include "punt/error.h"
#include "report/data_file.h"

namespace punt {
namespace {

namespace fs = std::filesystem;

const fs::path kFixtures = fs::path(PUNT_SOURCE_DIR) / "tests/score";

std::string Fixture(const std::string& name) {
  return ReadDataFile((kFixtures / ("mt_bench_" + name + ".jsonl")).string());
}

std::vector<JudgeRequest> FixtureRequests() {
  return MakeJudgeRequests(ParseMtBenchQuestions(Fixture("questions")), ParseMtBenchAnswers(Fixture("answers")),
                           ParseMtBenchAnswers(Fixture("references")), ParseJudgePrompts(Fixture("prompts")));
}

TEST(MtBench, RatingsAreReadByTwoPatterns) {
  EXPECT_EQ(ParseRating("Rating: [[5]]"), 5);
  EXPECT_EQ(ParseRating("[3] but then [[7.5]] and [[2]]"), 7.5);
  EXPECT_EQ(ParseRating("Rating: [6]"), 6);
  EXPECT_EQ(ParseRating("[[10.]]"), 10);
  EXPECT_EQ(ParseRating("[[[4]]]"), 4);
  EXPECT_EQ(ParseRating("[[rating]] of [[8]]"), 8);
  EXPECT_EQ(ParseRating("[[8/10]] [9]"), 9);
  for (const char* none : {"", "8", "[[]]", "[[-3]]", "[[ 5 ]]", "[[5", "[a]", "[.5]"}) {
    EXPECT_EQ(ParseRating(none), std::nullopt) << none;
  }
}

TEST(MtBench, RequestsByCategoryAndTurn) {
  const std::vector<JudgeRequest> requests = FixtureRequests();
  ASSERT_EQ(requests.size(), 4u) << "a question without an answer is not asked about";
  EXPECT_EQ(requests[0].prompt, "single-v1");
  EXPECT_EQ(requests[1].prompt, "single-v1-multi-turn");
  EXPECT_EQ(requests[2].prompt, "single-math-v1");
  EXPECT_EQ(requests[3].prompt, "single-math-v1-multi-turn");
  // What an answer has in braces stays as it is.
  EXPECT_EQ(requests[0].user,
            "Rate this from 1 to 10 as [[rating]].\nQ: Write a line about rain.\nA: Rain {answer} falls.");
  EXPECT_EQ(requests[3].user, "Right: It is 42. It is 21.\nQ: What is 6 times 7?\nA: 42\nQ: And half of that?\nA: 20");
  const auto line = nlohmann::json::parse(JudgeRequestLine(requests[3], "judge-x"));
  EXPECT_EQ(line["custom_id"], "mt-bench/111/2");
  EXPECT_EQ(line["body"]["model"], "judge-x");
  EXPECT_EQ(line["body"]["temperature"], 0);
  EXPECT_EQ(line["body"]["max_tokens"], 2048);
  EXPECT_EQ(line["body"]["messages"][0]["content"], "You judge the second answer.");
  EXPECT_EQ(line["body"]["messages"][1]["content"], requests[3].user);
  EXPECT_EQ(nlohmann::json::parse(JudgeRequestBody(requests[3], "judge-x")), line["body"]);
}

TEST(MtBench, SumsUp) {
  const std::vector<JudgeRequest> requests = FixtureRequests();
  const Judgments judgments = ParseJudgments(Fixture("judgments"), "own");
  EXPECT_EQ(judgments.size(), 4u) << "another model's do not count";
  const MtBenchSummary summary = SummariseMtBench(requests, judgments);
  EXPECT_EQ(summary.ratings, 3u);
  EXPECT_EQ(summary.unrated, 1u);
  EXPECT_EQ(summary.missing, 0u);
  EXPECT_DOUBLE_EQ(summary.score.value, (8 + 9.5 + 10) / 3);
  EXPECT_FALSE(summary.score.ci95) << "of two questions";
  EXPECT_DOUBLE_EQ(summary.turns[0]->value, 9);
  EXPECT_DOUBLE_EQ(summary.turns[1]->value, 9.5);
  ASSERT_EQ(summary.categories.size(), 2u);
  EXPECT_EQ(summary.categories[0].first, "writing");
  EXPECT_DOUBLE_EQ(summary.categories[0].second.value, 8.75);
  EXPECT_EQ(summary.categories[1].first, "math");
  EXPECT_EQ(SummariseMtBench(requests, {{{"81", 1}, {"", 3.0}}}).missing, 3u);
  EXPECT_FALSE(SummariseMtBench(requests, {{{"81", 1}, {"", 3.0}}}).turns[1]);
  EXPECT_THROW(SummariseMtBench(requests, {}), Error);
}

TEST(MtBench, JudgmentsAreReadBack) {
  const std::vector<JudgeRequest> requests = FixtureRequests();
  const std::string lines = JudgmentLine(requests[0], {"so [[4]]", 4.0}, "m", "j") + "\n" +
                            JudgmentLine(requests[1], {"none", std::nullopt}, "m", "j") + "\n";
  const Judgments judgments = ParseJudgments(lines, "m");
  EXPECT_EQ(judgments.at({"81", 1}).rating, 4);
  EXPECT_EQ(judgments.at({"81", 2}).rating, std::nullopt);
  EXPECT_EQ(nlohmann::json::parse(lines.substr(lines.find('\n')))["score"], -1);
  const char* batch =
      R"({"id": "x", "custom_id": "mt-bench/81/2", "response": {"status_code": 200, "body": {"choices": [{"message": {"content": "[[6]]"}}]}}})";
  EXPECT_EQ(ParseJudgments(batch, "m").at({"81", 2}).rating, 6);
  EXPECT_EQ(ParseJudgments(R"({"question_id": 81, "turn": 1, "score": 7})", "m").at({"81", 1}).rating, 7);
}

TEST(MtBench, ErrorsNameTheLine) {
  const auto judgments = [](const char* text) { return ErrorOf([&] { ParseJudgments(text, "m"); }); };
  EXPECT_EQ(judgments(R"({"question_id": 81, "turn": 3, "score": 7})"), "line 1: turn is not 1 or 2");
  EXPECT_EQ(judgments(R"({"question_id": 81, "turn": 1})"), "line 1: neither a judgment nor a score");
  EXPECT_EQ(judgments(R"({"question_id": 81, "turn": 1, "model_1": "a"})"),
            "line 1: a judgment of a pair; single ones are expected");
  EXPECT_EQ(judgments(R"({"custom_id": "other/81/1"})"), "line 1: custom_id 'other/81/1' is not one of ours");
  EXPECT_EQ(judgments(R"({"custom_id": "mt-bench/81/1", "error": {}})"), "line 1: a result without a text");
  EXPECT_EQ(
      judgments("{\"question_id\": 81, \"turn\": 1, \"score\": 7}\n{\"question_id\": 81, \"turn\": 1, \"score\": 8}"),
      "line 2: another judgment of question 81, turn 1");
  const auto questions = ParseMtBenchQuestions(Fixture("questions"));
  const auto answers = ParseMtBenchAnswers(Fixture("answers"));
  const auto prompts = ParseJudgePrompts(Fixture("prompts"));
  EXPECT_EQ(ErrorOf([&] { MakeJudgeRequests(questions, answers, {}, prompts); }),
            "question 111 (math) has no reference answer");
  EXPECT_EQ(ErrorOf([&] { MakeJudgeRequests(questions, answers, {}, {}); }), "there is no judge prompt 'single-v1'");
  EXPECT_EQ(ErrorOf([&] {
              MakeJudgeRequests(questions, answers, {}, {{"single-v1", {"", "{nobody}"}}});
            }),
            "nothing is known for '{nobody}'");
  EXPECT_EQ(ErrorOf([] { ParseMtBenchQuestions(R"({"question_id": 1, "category": "c", "turns": ["a"]})"); }),
            "line 1: 'turns' is not a list of 2 texts");
  EXPECT_EQ(ErrorOf([] { ParseMtBenchAnswers(R"({"question_id": 1, "model_id": "m", "choices": []})"); }),
            "line 1: no choices");
  EXPECT_EQ(ErrorOf([] { ParseMtBenchAnswers(""); }), "there are no answers");
}

TEST(MtBench, ThePublishedFilesMake160Requests) {
  const std::string references = "mt_bench/reference_answer/gpt-4.jsonl";
  REQUIRE_TEST_DATA("mt_bench/question.jsonl", references, "mt_bench/judge_prompts.jsonl");
  const auto read = [](const std::string& name) { return ReadDataFile(testing::TestData(name).string()); };
  const auto questions = ParseMtBenchQuestions(read("mt_bench/question.jsonl"));
  ASSERT_EQ(questions.size(), 80u);
  MtBenchAnswers answers{.model = "m"};
  for (const MtBenchQuestion& question : questions) answers.by_question[question.id] = {"first", "second"};
  const auto requests = MakeJudgeRequests(questions, answers, ParseMtBenchAnswers(read(references)),
                                          ParseJudgePrompts(read("mt_bench/judge_prompts.jsonl")));
  std::map<std::string, int> counts;
  for (const JudgeRequest& request : requests) {
    ++counts[request.prompt];
    EXPECT_EQ(request.user.find("{question"), std::string::npos);
    EXPECT_NE(request.user.find(request.turn == 1 ? "first" : "second"), std::string::npos);
  }
  EXPECT_EQ(
      counts,
      (std::map<std::string, int>{
          {"single-v1", 50}, {"single-v1-multi-turn", 50}, {"single-math-v1", 30}, {"single-math-v1-multi-turn", 30}}));
}

}  // namespace
}  // namespace punt
