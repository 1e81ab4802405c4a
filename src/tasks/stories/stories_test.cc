// The task `stories`: authors whose texts are known, a judge whose opinion is known.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "denoise/row_model_testing.h"
#include "eval/judges/text_judge.h"
#include "eval/run.h"
#include "eval/tiny_llama_testing.h"
#include "tasks/tasks.h"
#include "weights/weights_testing.h"

namespace punt {
namespace {

using testing::MakeRowModel;

double ValueOf(const EvalSummary& summary, std::string_view name) {
  for (const Figure& figure : summary.figures) {
    if (figure.name == name) return figure.value;
  }
  return -1;
}

std::vector<EvalRecord> RunStories(const TaskSetup& setup, std::size_t count, EvalSummary* summary) {
  const auto task = MakeTask("stories", setup);
  Recipe recipe;
  if (setup.model != nullptr) {
    recipe = MakeRecipe("left-to-right", "", {.temperature = 0}, setup.model->denoiser->info());
  }
  auto records = RunItems({.task = task.get(), .model = setup.model, .count = count, .recipe = recipe});
  *summary = Summarise(*task, records);
  return records;
}

/// Writes "a b a b ..." and ends at position 10.
Model Author() {
  return MakeRowModel({"a ", "b ", "Q"}, 20, [](std::span<const Token>, Position position) {
    std::vector<double> row(6, -40.0);
    row[position == 10 ? 1 : position % 2 == 1 ? 3 : 4] = 0;
    row[2] = -INFINITY;
    return row;
  });
}

TEST(Stories, CountsWhatAnAuthorWrites) {
  const Model author = Author();
  EvalSummary summary;
  const auto records = RunStories({.model = &author}, 2, &summary);
  EXPECT_EQ(records[0].response, "a b a b a b a b a ");
  EXPECT_EQ(records[0].verdict, (Measurement{{"ends_in_eos", 1}, {"length", 9}}));
  EXPECT_FALSE(summary.accuracy.has_value());
  EXPECT_DOUBLE_EQ(ValueOf(summary, "distinct_1"), 2.0 / 18);
  EXPECT_DOUBLE_EQ(ValueOf(summary, "repetition"), 4.0 / 6);  // abab baba, then four again
  EXPECT_DOUBLE_EQ(ValueOf(summary, "eos_share"), 1);
  EXPECT_DOUBLE_EQ(ValueOf(summary, "length_mean"), 9);
  EXPECT_EQ(ValueOf(summary, "judge_perplexity"), -1);
  ASSERT_EQ(summary.notes.size(), 1u);
  EXPECT_EQ(summary.notes[0], "without a judge there is no perplexity");
  RunStories({.model = &author, .length = 5}, 1, &summary);
  EXPECT_DOUBLE_EQ(ValueOf(summary, "eos_share"), 0);
  EXPECT_DOUBLE_EQ(ValueOf(summary, "length_mean"), 5);
  EXPECT_THROW(RunStories({.model = &author, .length = 20}, 1, &summary), Error);
}

TEST(Stories, TheLawIsComparedWithThatOfAnotherRun) {
  const testing::TempFolder temp;
  const Model author = Author();
  EvalSummary summary;
  const auto records = RunStories({.model = &author}, 6, &summary);
  EXPECT_DOUBLE_EQ(ValueOf(summary, "self_overlap"), 1);
  EXPECT_DOUBLE_EQ(ValueOf(summary, "distinct_4"), 2.0 / 36);
  EXPECT_NEAR(ValueOf(summary, "word_entropy"), -5.0 / 9 * std::log(5.0 / 9) - 4.0 / 9 * std::log(4.0 / 9), 1e-12);
  EXPECT_EQ(ValueOf(summary, "law_p"), -1);
  std::string same, other;
  for (EvalRecord record : records) {
    same += RecordLine(record) + "\n";
    record.response = "quite another story";
    other += RecordLine(record) + "\n";
  }
  testing::WriteAll(temp / "items.jsonl", same);
  RunStories({.model = &author, .reference = temp.path().string()}, 6, &summary);
  EXPECT_NEAR(ValueOf(summary, "law_distance"), 0, 1e-12);
  EXPECT_EQ(ValueOf(summary, "law_p"), 1);
  testing::WriteAll(temp / "items.jsonl", other);
  RunStories({.model = &author, .reference = temp.path().string()}, 6, &summary);
  EXPECT_NEAR(ValueOf(summary, "law_distance"), 2, 0.5);
  EXPECT_LT(ValueOf(summary, "law_p"), 0.02);
  testing::WriteAll(temp / "items.jsonl", "nonsense\n");
  EXPECT_THROW(MakeTask("stories", {.model = &author, .reference = temp.path().string()}), Error);
  EXPECT_THROW(MakeTask("sudoku", {.model = &author, .reference = temp.path().string()}), Error);
}

TEST(Stories, ThePerplexityIsOfAllTokensTogether) {
  const testing::TempFolder temp;
  testing::TinyLlama().Write(temp / "judge.gguf");
  testing::WriteAll(temp / "openings", "Q\n\nQQb a \n");
  const Model author = Author();
  EvalSummary summary;
  const auto records = RunStories(
      {.model = &author, .data = (temp / "openings").string(), .judge = (temp / "judge.gguf").string()}, 2, &summary);
  ASSERT_EQ(records[1].prompt, "QQb a ");
  ASSERT_EQ(records[1].response, "a b a b a ");
  TextJudge judge((temp / "judge.gguf").string(), 1);
  double nll = 0;
  double tokens = 0;
  for (const EvalRecord& record : records) {
    const Likelihood likelihood = judge.Judge(record.response, record.prompt);
    EXPECT_EQ(record.verdict.at("judge_nll"), likelihood.nll);
    nll += likelihood.nll;
    tokens += likelihood.tokens;
  }
  EXPECT_NEAR(ValueOf(summary, "judge_perplexity"), std::exp(nll / tokens), 1e-9);
}

/// As a record holds it: bytes that are no UTF-8 are replaced.
std::string InRecord(const std::string& text) {
  using Json = nlohmann::json;
  return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
}

TEST(Stories, WithoutAModelTheJudgeWritesAndJudgesItself) {
  const testing::TempFolder temp;
  testing::TinyLlama().Write(temp / "judge.gguf");
  EvalSummary hot;
  EvalSummary cold;
  const std::string path = (temp / "judge.gguf").string();
  const auto records = RunStories({.judge = path, .length = 24, .seed = 3}, 12, &hot);
  TextJudge judge(path, 1);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const JudgeSample own = judge.Sample({.max_tokens = 24, .key = {.seed = 3, .sample = i}});
    EXPECT_EQ(records[i].response, InRecord(own.text));
    EXPECT_EQ(records[i].verdict.at("judge_nll"), judge.Judge(own.text).nll);
  }
  RunStories({.judge = path, .length = 24, .seed = 3, .proposal = {.temperature = 0.3}}, 12, &cold);
  EXPECT_LT(ValueOf(cold, "judge_nll_per_token"), ValueOf(hot, "judge_nll_per_token") - 0.3);
  EXPECT_GT(ValueOf(cold, "length_mean"), 0);
  EXPECT_THROW(MakeTask("stories", {.data = path, .judge = path}), Error);
}

}  // namespace
}  // namespace punt
