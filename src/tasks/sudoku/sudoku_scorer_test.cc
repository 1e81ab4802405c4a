#include <gtest/gtest.h>

#include "eval/task.h"
#include "punt/error.h"
#include "tasks/scorer_rows.h"

namespace punt {
namespace {

constexpr const char* kBoards =
    "Puzzle,Solution\n3102200002100320,3142243142131324\n1234341200004321,1234341221434321\n";

TEST(SudokuScorer, FindsBoards) {
  const auto scorer = kSudokuScorer.make({kBoards});
  for (const char* response :
       {"3142243142131324", "<answer>\n3142243142131324\n</answer>", "It is 3142243142131324.",
        "3 1 4 2\n2 4 3 1\n4 2 1 3\n1 3 2 4", "|3 1|4 2|\n|2 4|3 1|\n+---+---+\n|4 2|1 3|\n|1 3|2 4|",
        "\nA 3142\nB 2431\nC 4213\nD 1324", "[3,1,4,2]\n[2,4,3,1]\n[4,2,1,3]\n[1,3,2,4]",
        "1111111111111111 no: 3142243142131324"}) {
    const ScoreVerdict verdict = scorer->Judge(0, response);
    EXPECT_EQ(verdict.extracted, "3142243142131324") << response;
    EXPECT_EQ(verdict.values.at(kCorrect), 1) << response;
    EXPECT_EQ(verdict.values.at("valid_cells"), 1) << response;
  }
  for (const char* response :
       {"", "31422431421313241", "314224314213132", "3142\n2431\n4213", "<answer></answer> 3142243142131324"}) {
    EXPECT_EQ(scorer->Judge(0, response).reason, "no board") << response;
  }
}

TEST(SudokuScorer, JudgesTheRulesAndTheGivens) {
  const auto scorer = kSudokuScorer.make({kBoards});
  ScoreVerdict verdict = scorer->Judge(0, "3142243142131342");
  EXPECT_EQ(verdict.reason, "changes a given");
  verdict = scorer->Judge(0, "3102200002100320");
  EXPECT_EQ(verdict.reason, "breaks a rule");
  EXPECT_EQ(verdict.values.at("valid_cells"), 0);
  EXPECT_EQ(scorer->Judge(0, "3192243142131324").reason, "breaks a rule");
  EXPECT_EQ(scorer->Judge(0, "1234341221434321").values.at(kCorrect), 0);  // a solution, of another board
  EXPECT_EQ(scorer->Judge(1, "1234341221434321").values.at(kCorrect), 1);
}

TEST(SudokuScorer, AnySolutionOfTheBoardIsRight) {
  const auto scorer = kSudokuScorer.make({"puzzle,solution\n0000341221434321,1234341221434321"});
  EXPECT_EQ(scorer->Judge(0, "1234341221434321").values.at(kCorrect), 1);
  const auto open = kSudokuScorer.make({"puzzle,solution\n1000000000000000,1234341221434321"});
  EXPECT_EQ(open->Judge(0, "1243342121344321").values.at(kCorrect), 0);  // the third column has two 2s
  const ScoreVerdict other = open->Judge(0, "1243431221343421");
  EXPECT_EQ(other.values.at(kCorrect), 1);
  EXPECT_LT(other.values.at("valid_cells"), 1);
}

TEST(SudokuScorer, OtherSizesAndBadFiles) {
  const auto nine =
      kSudokuScorer.make({"puzzle,solution\n"
                          "000000000672195348198342567859761423426853791713924856961537284287419635345286179,"
                          "534678912672195348198342567859761423426853791713924856961537284287419635345286179"});
  EXPECT_EQ(nine->Judge(0, nine->items()[0].gold).values.at(kCorrect), 1);
  EXPECT_EQ(nine->QuestionKey("Solve: " + nine->items()[0].prompt + "\n"), nine->items()[0].prompt);
  for (const char* data :
       {"", "puzzle,solution\n", "puzzle,solution\n12,12\n", "a,b\n3102200002100320,3142243142131324\n",
        "puzzle,solution\n3102200002100320,3142243142131323\n"}) {
    EXPECT_THROW(kSudokuScorer.make({data}), Error) << data;
  }
}

}  // namespace
}  // namespace punt
