#include "app/sudoku_request.h"

#include <gtest/gtest.h>

#include "app/request.h"

namespace punt {
namespace {

TEST(BoardInfill, PutsLabelsBeforeRowsAndHolesForBlanks) {
  EXPECT_EQ(BoardInfill("1200003400000000"), "\nA 12[MASK:2]\nB [MASK:2]34\nC [MASK:4]\nD [MASK:4]");
  EXPECT_EQ(BoardInfill("12..2.3434124321"), "\nA 12[MASK:2]\nB 2[MASK:1]34\nC 3412\nD 4321");
}

TEST(BoardInfill, IsNothingForOtherTexts) {
  for (const char* text : {"", "123", "1200003400000005", "12000034000000000", "120000340000000a"}) {
    EXPECT_FALSE(BoardInfill(text)) << text;
  }
}

TEST(BoardInfill, HasAHoleForEveryBlankOfABoard) {
  const std::string puzzle = "530070000600195000098000060800060003400803001700020006060000280000419005000080079";
  int masks = 0;
  std::string cells;
  for (const InfillPart& part : ParseInfill(*BoardInfill(puzzle))) {
    masks += part.masks;
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
