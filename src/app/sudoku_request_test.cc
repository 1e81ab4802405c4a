#include "app/sudoku_request.h"

#include <gtest/gtest.h>

#include "app/request.h"
#include "base/error_testing.h"

namespace punt {
namespace {

TEST(BoardInfill, PutsLabelsBeforeRowsAndHolesForBlanks) {
  EXPECT_EQ(BoardInfill("1200003400000000"), "\nA 12[MASK:2]\nB [MASK:2]34\nC [MASK:4]\nD [MASK:4]");
  EXPECT_EQ(BoardInfill("12..4.2134122143"), "\nA 12[MASK:2]\nB 4[MASK:1]21\nC 3412\nD 2143");
}

TEST(BoardInfill, LeavesOutWhiteSpace) {
  EXPECT_EQ(BoardInfill("1200\n0034\r\n0000\n00 00\n"), BoardInfill("1200003400000000"));
}

TEST(BoardInfill, RefusesWhatIsNoPuzzle) {
  const auto refusal = [](const char* text) { return ErrorOf([&] { BoardInfill(text); }); };
  EXPECT_EQ(refusal("hello"),
            "the prompt is not a puzzle: it has 5 characters, a board 81 (or 36, 16) digits, 0 or . for a blank");
  for (const char* text : {" ", "123", "12000034000000000"}) {
    EXPECT_EQ(refusal(text).substr(0, 27), "the prompt is not a puzzle:") << text;
  }
  EXPECT_EQ(refusal("1200003400000005"), "the puzzle has '5' in row 4, column 4: cells are 1 to 4, 0 or . for a blank");
  EXPECT_EQ(refusal("120a003400000000"), "the puzzle has 'a' in row 1, column 4: cells are 1 to 4, 0 or . for a blank");
  EXPECT_EQ(refusal("1200\u65e503400000000"),
            "the puzzle has '\u65e5' in row 2, column 1: cells are 1 to 4, 0 or . for a blank");
  EXPECT_EQ(refusal("1200\x1b"
                    "03400000000"),
            "the puzzle has '\ufffd' in row 2, column 1: cells are 1 to 4, 0 or . for a blank");
  EXPECT_EQ(refusal("1200\xff"
                    "03400000000"),
            "the text is not valid UTF-8: byte 0xff at offset 4");
}

TEST(BoardInfill, NamesTheGivensThatContradictEachOther) {
  const auto refusal = [](const char* text) { return ErrorOf([&] { BoardInfill(text); }); };
  EXPECT_EQ(refusal("1010000000000000"), "the puzzle contradicts itself: 1 stands twice in row 1 (columns 1 and 3)");
  EXPECT_EQ(refusal("0200000000000200"), "the puzzle contradicts itself: 2 stands twice in column 2 (rows 1 and 4)");
  EXPECT_EQ(refusal("0000000000300003"),
            "the puzzle contradicts itself: 3 stands twice in box 4 (row 3, column 3 and row 4, column 4)");
  EXPECT_EQ(refusal("000000000000000000500000005000000000"), "accepted");
  EXPECT_EQ(refusal("000000000000500000050000000000000000"),
            "the puzzle contradicts itself: 5 stands twice in box 3 (row 3, column 1 and row 4, column 2)");
}

TEST(BoardInfill, HasAHoleForEveryBlankOfABoard) {
  const std::string puzzle = "530070000600195000098000060800060003400803001700020006060000280000419005000080079";
  int masks = 0;
  std::string cells;
  for (const Stretch& part : ParseHoles(BoardInfill(puzzle))) {
    masks += static_cast<int>(part.masks);
    cells += std::string(static_cast<std::size_t>(part.masks), '0');
    for (char c : part.text) {
      if (c >= '1' && c <= '9') cells += c;
    }
  }
  EXPECT_EQ(masks, 51);
  EXPECT_EQ(cells, puzzle);
}

}  // namespace
}  // namespace punt
