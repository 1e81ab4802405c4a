// ParallelBench: its metrics, its files (made-up ones in their format; the real ones where they are at hand), and the
// task on both.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/test_data_testing.h"
#include "denoise/row_model_testing.h"
#include "eval/run.h"
#include "tasks/questions/list_questions.h"
#include "tasks/questions/parallelbench_items.h"
#include "tasks/questions/parallelbench_metrics.h"
#include "tasks/questions/yaml_text.h"

namespace punt {
namespace {

namespace fs = std::filesystem;

const fs::path kFixture = fs::path(PUNT_SOURCE_DIR) / "tests/tasks/parallelbench";

using Names = std::vector<std::string>;

TEST(ParallelBench, ListsAreReadLooselyAndStrictly) {
  const Names both = {"Ann Lee", "Roy Hall"};
  EXPECT_EQ(ParseNameList("[\"Ann Lee\", \"Roy Hall\"]", true), both);
  for (const char* loose :
       {"Sure: [Ann Lee,Roy Hall] as asked", "[x] then [\"Ann Lee\" ,  Roy Hall", "Ann Lee, Roy Hall"}) {
    EXPECT_EQ(ParseNameList(loose, false), both) << loose;
    EXPECT_FALSE(ParseNameList(loose, true)) << loose;
  }
  EXPECT_EQ(ParseNameList("[\"Ann Lee\", , \"Roy Hall\",]", false), both);
  EXPECT_FALSE(ParseNameList("[\"Ann Lee\",\"Roy Hall\"]", true));
  EXPECT_FALSE(ParseNameList("[\"Ann \"Lee\", \"Roy Hall\"]", true));
}

ParallelBenchVerdict Judge(const std::string& kind, const std::string& answer) {
  ParallelBenchItem item{
      .kind = kind, .asked = {{{"word", "W"}}, "[\"A\", \"B\", \"C\"]"}, .shown = {}, .input = {"A", "B", "C"}};
  if (kind == kLatinSquareKind) item.input = {"A", "B"};
  if (kind == kSudokuKind) item.asked.answer = "1234\n3412\n2143\n4321";
  return JudgeParallelBench(item, answer);
}

TEST(ParallelBench, RightIsWhatTheKindAsksFor) {
  const struct {
    const char* kind;
    Names right;
    Names wrong;
  } cases[] = {
      {"copy", {"[A, B, C]"}, {"[A, B]", "[A, C, B]", ""}},
      {"shuffle", {"[C, B, A]", "[B, A, C]"}, {"[A, B, C]", "[A, A, B]", "[B, A]", "[C, B, A, A]"}},
      {"insert_random",
       {"[W, A, B, C]", "[A, B, C, W]"},
       {"[A, B, C]", "[W, A, C, B]", "[W, A, B, C, W]", "[W, B, C]"}},
      {"remove_random", {"[B, C]", "[A, C]"}, {"[C, B]", "[A, B, C]", "[A]", "[A, W]", "[A, A]"}},
      {"replace_random", {"[W, B, C]", "[A, B, W]"}, {"[A, B, C]", "[W, W, C]", "[W, A, B, C]", "[B, W, C]"}},
      {"latin_square", {"A,B\nB,A", "Here:\n A , B \n\nB,A\nA,B"}, {"A,B\nA,B", "A,B", "A,B\nB,C", "AB\nBA"}},
      {"sudoku",
       {"1234\n3412\n2143\n4321", "1 2 3 4\n3,4,1,2\n|2143|\n\n4321"},
       {"1234\n3412\n2143\n4312", "1234", ""}},
  };
  for (const auto& [kind, right, wrong] : cases) {
    for (const std::string& answer : right) EXPECT_TRUE(Judge(kind, answer).loose) << kind << ": " << answer;
    for (const std::string& answer : wrong) EXPECT_FALSE(Judge(kind, answer).loose) << kind << ": " << answer;
  }
  EXPECT_FALSE(Judge("copy", "[A, B, C]").strict);
  EXPECT_TRUE(Judge("copy", "[\"A\", \"B\", \"C\"]").strict);
  EXPECT_FALSE(Judge("sudoku", "1 2 3 4\n3412\n2143\n4321").strict);
  EXPECT_TRUE(Judge("sudoku", "\n1234\n3412\n2143\n4321 ").strict);
}

TEST(ParallelBench, PromptsAreFolded) {
  EXPECT_EQ(ReadParallelBenchPrompt(kFixture, "insert_index"),
            "A line's prompt of insert_index, \"{word}\", {index}:\n{context}\nOnly the list.\n");
  EXPECT_EQ(ReadParallelBenchPrompt(kFixture, "latin_square"),
            "A latin square of size {size} with the symbols {symbols}.");
  EXPECT_EQ(FillPrompt("{a}-{b}{a}", {{"a", "1"}, {"b", "{a}"}}), "1-{a}1");
  EXPECT_THROW(FillPrompt("{c}", {{"a", "1"}}), Error);
  EXPECT_THROW(YamlText("a:\n  b: x\n", "a", "c"), Error);
  EXPECT_THROW(YamlText("a:\n  b: 'x\n", "a", "b"), Error);
  EXPECT_EQ(YamlText("b:\n  c: no\na:\n  c: one\n    two\n  d: 3\n", "a", "c"), "one two");
}

/// Every item's own answer is right and those of its neighbours are not.
void CheckFolder(const fs::path& folder, std::size_t least) {
  for (const QuestionKind& kind : ParallelBenchKinds()) {
    const std::vector<ParallelBenchItem> items = ReadParallelBench(folder, kind.name);
    EXPECT_GE(items.size(), least) << kind.name;
    for (const ParallelBenchItem& item : items) {
      const std::string& answer = item.asked.answer;
      EXPECT_TRUE(JudgeParallelBench(item, answer).strict) << kind.name << ": " << answer;
      EXPECT_TRUE(JudgeParallelBench(item, "So:\n" + answer).loose) << kind.name << ": " << answer;
      std::string broken = answer;
      const std::size_t end = broken.find_last_of("\n ");
      broken.erase(0, end == std::string::npos ? broken.size() : end);  // all but the last
      EXPECT_FALSE(JudgeParallelBench(item, broken).loose) << kind.name << ": " << broken;
      ASSERT_EQ(item.shown.size(), 1u);
      EXPECT_FALSE(JudgeParallelBench(item, item.shown[0].answer).loose) << kind.name << ": " << answer;
      const std::string prompt = FillPrompt(ReadParallelBenchPrompt(folder, kind.name), item.asked.values);
      EXPECT_EQ(prompt.find('{'), std::string::npos) << prompt;
      if (kind.name == kSudokuKind || kind.name == kLatinSquareKind) continue;
      // Our checker of our wording says the same of the benchmark's answers.
      EXPECT_TRUE(IsRightList({.kind = item.kind, .prompt = OwnPrompt(item), .answer = answer}, answer))
          << OwnPrompt(item);
    }
  }
}

TEST(ParallelBench, MadeUpItemsAreJudgedRight) { CheckFolder(kFixture, 1); }

TEST(ParallelBench, RealItemsAreJudgedRight) {
  REQUIRE_TEST_DATA("parallelbench/puzzle", "parallelbench/waiting_line");
  CheckFolder(testing::TestData("parallelbench/puzzle").parent_path(), 100);
}

TEST(ParallelBench, OurWordingHasTheItemsParts) {
  const auto prompt = [](const char* kind) { return OwnPrompt(ReadParallelBench(kFixture, kind).front()); };
  const std::string line = "[\"Ann Lee\", \"Carl Wood\", \"Rose Diaz\"]";
  EXPECT_EQ(prompt("insert_index"), "Insert \"Joe Ray\" at position 1: " + line);
  EXPECT_EQ(prompt("replace_random"), "Replace a random person with \"Joe Ray\": " + line);
  EXPECT_EQ(prompt("latin_square"), "Latin square: [H, 4, C, A]");
}

TEST(ParallelBench, BrokenFoldersAreNamed) {
  EXPECT_THROW(ReadParallelBench(kFixture / "puzzle", "copy"), Error);
  EXPECT_THROW(ReadParallelBenchPrompt(kFixture / "puzzle", "copy"), Error);
}

}  // namespace
}  // namespace punt
