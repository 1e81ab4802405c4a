// Benchmarks as tasks: prompts, worked examples, and verdicts that are the scorer's.
#include "eval/benchmark.h"

#include <gtest/gtest.h>

#include <set>

#include "denoise/row_model_testing.h"
#include "eval/run.h"
#include "punt/error.h"
#include "tasks/scorers.h"
#include "tasks/tasks.h"
#include "weights/weights_testing.h"

namespace punt {
namespace {

constexpr const char* kData = R"({"question": "1?", "answer": "one #### 1"}
{"question": "2?", "answer": "two #### 2"}
{"question": "3?", "answer": "three #### 12"}
)";

/// A token for every character; writes " 12 Question: 7" behind whatever it is given.
Model Author() {
  std::vector<std::string> pieces = {"\n"};
  for (char c = ' '; c <= '~'; ++c) pieces.emplace_back(1, c);
  const std::string text = " 12 Question: 7";
  const int size = static_cast<int>(pieces.size()) + 3;
  return testing::MakeRowModel(pieces, 400, [=](std::span<const Token> canvas, Position position) {
    // Prompts end in "Answer:", which is the last colon that is not followed by a letter.
    const std::string_view mark = "Answer:";
    std::size_t end = 0;
    for (std::size_t i = mark.size(); i <= canvas.size(); ++i) {
      bool is_mark = true;
      for (std::size_t k = 0; k < mark.size(); ++k) {
        is_mark = is_mark && canvas[i - mark.size() + k] == static_cast<Token>(mark[k] - ' ' + 4);
      }
      if (is_mark) end = i;
    }
    const std::size_t at = static_cast<std::size_t>(position) - end;
    std::vector<double> row(static_cast<std::size_t>(size), -40.0);
    row[at < text.size() ? static_cast<std::size_t>(text[at] - ' ' + 4) : 1] = 0;
    row[2] = -INFINITY;
    return row;
  });
}

class BenchmarkTest : public ::testing::Test {
 protected:
  BenchmarkTest() {
    testing::WriteAll(temp_ / "data", kData);
    std::string shots;
    for (char c = 'a'; c <= 'j'; ++c)
      shots += std::string("{\"question\": \"") + c + "\", \"answer\": \"A" + c + "\"}\n";
    testing::WriteAll(temp_ / "shots", shots);
    setup_ = {.model = &author_, .data = (temp_ / "data").string(), .shots = (temp_ / "shots").string(), .length = 30};
  }

  const testing::TempFolder temp_;
  const Model author_ = Author();
  TaskSetup setup_;
};

TEST_F(BenchmarkTest, TheLastQuestionIsLeftToTheModel) {
  setup_.shots = "";
  EXPECT_EQ(MakeTask("gsm8k:shots=0", setup_)->Item(1).prompt, "Question: 2?\nAnswer:");
  const BenchmarkRow row{.before = "Q ", .between = " A", .space = "="};
  const Shot shots[] = {{"one", "1"}, {"two", "2"}};
  EXPECT_EQ(BenchmarkPrompt(row, "three", shots), "Q one A=1\n\nQ two A=2\n\nQ three A");
}

TEST_F(BenchmarkTest, ExamplesAreDrawnForEachItemFromTheSeed) {
  setup_.seed = 5;
  const auto task = MakeTask("gsm8k", setup_);
  std::set<std::string> prompts;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string prompt = task->Item(i).prompt;
    EXPECT_EQ(prompt, task->Item(i).prompt);
    std::set<char> shots;
    for (char c = 'a'; c <= 'j'; ++c) {
      const std::string block = std::string("Question: ") + c + "\nAnswer: A" + c + "\n\n";
      if (prompt.find(block) != std::string::npos) shots.insert(c);
    }
    EXPECT_EQ(shots.size(), 4u) << prompt;
    prompts.insert(prompt.substr(0, prompt.rfind("Question")));
  }
  setup_.seed = 6;
  prompts.insert(MakeTask("gsm8k", setup_)->Item(0).prompt.substr(0, 40));
  EXPECT_GT(prompts.size(), 2u);
}

TEST_F(BenchmarkTest, ResponsesEndAtStopsAndVerdictsAreTheScorers) {
  const auto task = MakeTask("gsm8k:shots=1", setup_);
  const Recipe recipe = MakeRecipe("left-to-right", "", {.temperature = 0}, author_.denoiser->info());
  const auto records = RunItems({.task = task.get(), .model = &author_, .count = 3, .recipe = recipe});
  const auto scorer = MakeScorer(FindScorer("gsm8k"), setup_.data);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(records[i].response, " 12 ");
    Measurement verdict = scorer->Judge(i, records[i].response).values;
    verdict["length"] = 15;
    EXPECT_EQ(records[i].verdict, verdict);
  }
  const EvalSummary summary = Summarise(*task, records);
  EXPECT_DOUBLE_EQ(summary.accuracy->value, 1.0 / 3);
  EXPECT_EQ(summary.figures[0].name, "strict_match");
}

TEST_F(BenchmarkTest, CountsTheItemsThatALimitEnded) {
  const auto task = MakeTask("gsm8k:shots=1", setup_);
  Recipe recipe = MakeRecipe("left-to-right", "", {.temperature = 0}, author_.denoiser->info());
  const auto summary = [&] {
    return Summarise(*task, RunItems({.task = task.get(), .model = &author_, .count = 3, .recipe = recipe}));
  };
  EXPECT_EQ(summary().unfinished, 0u);
  const std::size_t usual_notes = summary().notes.size();
  recipe.max_steps = 1;
  EXPECT_EQ(summary().unfinished, 3u);
  EXPECT_EQ(summary().notes.size(), usual_notes + 1);
  EXPECT_EQ(summary().notes.back(), "3 of 3 texts are unfinished: a limit on passes or steps ended them");
  recipe.max_steps = 0;
  recipe.max_nfe = 1;
  EXPECT_EQ(summary().unfinished, 3u);
}

TEST_F(BenchmarkTest, SaysWhatIsMissing) {
  const auto error_of = [&](std::string_view spec) -> std::string {
    try {
      MakeTask(spec, setup_)->Item(0);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_of("gsm8k:shots=10"), "");
  EXPECT_NE(error_of("gsm8k:shots=11").find("10 worked examples, 11 are asked for"), std::string::npos);
  EXPECT_NE(error_of("gsm8k:chat=true").find("has no chat template"), std::string::npos);
  testing::WriteAll(temp_ / "shots", "{\"question\": \"a\"}\n");
  EXPECT_NE(error_of("gsm8k:shots=1").find("shots: line 1: "), std::string::npos);
  setup_.shots = "";
  EXPECT_NE(error_of("gsm8k").find("worked examples are missing"), std::string::npos);
  setup_.data = "";
  EXPECT_NE(error_of("gsm8k:shots=0").find("the data is missing"), std::string::npos);
}

}  // namespace
}  // namespace punt
